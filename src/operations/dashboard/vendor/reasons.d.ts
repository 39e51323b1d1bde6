export * from '../../../domain/reasons.js';
