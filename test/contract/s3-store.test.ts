import { openStandInPlace } from '../support/store/stand-in-store.js';
import { describeObjectStore } from './object-store.js';

describeObjectStore('the S3 store before a stand-in', () => openStandInPlace());
