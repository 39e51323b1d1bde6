import { describeLostCallbacks } from '../support/recovery/lost-callbacks.js';
import { openRealBucket } from '../support/store/real-s3.js';

describeLostCallbacks('a real S3 server', () => openRealBucket());
