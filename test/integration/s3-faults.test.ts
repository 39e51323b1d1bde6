import { describeS3Faults } from '../support/store/s3-faults.js';
import { openStandInPlace } from '../support/store/stand-in-store.js';

describeS3Faults('a stand-in', () => openStandInPlace());
