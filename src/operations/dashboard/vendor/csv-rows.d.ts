export * from '../../../domain/csv-rows.js';
