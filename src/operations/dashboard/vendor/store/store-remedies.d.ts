export * from '../../../../store/store-remedies.js';
