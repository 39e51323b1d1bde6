import { describeObjectStore } from '../contract/object-store.js';
import { openRealBucket } from '../support/store/real-s3.js';

describeObjectStore('a real S3 server', () => openRealBucket());
