export * from '../../../domain/summary-groups.js';
