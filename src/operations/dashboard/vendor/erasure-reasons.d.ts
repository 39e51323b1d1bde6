export * from '../../../domain/erasure-reasons.js';
