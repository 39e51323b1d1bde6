export * from '../../../domain/line-filters.js';
