export * from '../../../domain/event-attempts.js';
