// multer with its S3 engine: every part with a file name becomes an object.
import express from 'express';
import multer from 'multer';
import multerS3 from 'multer-s3';
import { BUCKET, createClient, listen } from './s3.mjs';

const storage = multerS3({
  s3: createClient(),
  bucket: BUCKET,
  contentType: multerS3.AUTO_CONTENT_TYPE,
  key: (request, file, done) => done(null, `jobs/${request.query.id}/${file.fieldname}`),
});
const app = express().disable('x-powered-by');
app.all('/callbacks/:source', multer({ storage }).any(), (request, response) => {
  response.json({ id: request.query.id, files: request.files.length });
});
listen(app);
