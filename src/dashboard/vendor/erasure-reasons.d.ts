export * from '../../domain/kept-reasons.js';
