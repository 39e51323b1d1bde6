export * from '../../../domain/erasure-totals.js';
