export * from '../../../../index/index-extent.js';
