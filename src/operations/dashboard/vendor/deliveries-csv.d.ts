export * from '../../../domain/deliveries-csv.js';
