import diagnostics from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';

// How many requests the server began, and how many of them got their answer to the end: written down when the process exits.
let begun = 0;
let answered = 0;
diagnostics.subscribe('http.server.request.start', ({ response }) => {
  begun += 1;
  response.on('finish', () => {
    answered += 1;
  });
});
process.on('exit', () => writeFileSync(process.env.ANVIL_FAULTS_REQUESTS, JSON.stringify({ begun, answered })));
