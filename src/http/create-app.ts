import { randomUUID } from 'node:crypto';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { type FastifyError, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { validation } from './input.js';
import { logRequests, REQUEST_ID_HEADER } from './log-requests.js';
import { takeLines } from './ndjson.js';
import { answerProblem, ProblemFilter } from './problem.js';

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** The HTTP side, ready to listen: validation, problems, and OpenAPI at /docs from the schemas that validate. */
export async function createApp(module: DynamicModule, logger: Logger): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: 'idle',
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: REQUEST_ID_HEADER,
    genReqId: () => randomUUID(),
    // What no route is even looked for with: a broken escape, a part of the path that is too long.
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => answerProblem(error, request, reply),
  });
  // JSON and nothing else: what a form can send, any web page could send here.
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: ['error', 'warn'],
    abortOnError: false,
    bodyParser: false,
  });
  adapter.getInstance().removeContentTypeParser('text/plain');
  takeLines(adapter.getInstance(), '/v1/import');
  logRequests(adapter.getInstance());
  app.useGlobalPipes(validation);
  app.useGlobalFilters(new ProblemFilter());
  const description = new DocumentBuilder()
    .setTitle('Anvil')
    .setDescription('The failure memory for coding loops.')
    .setVersion('1')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description));
  await app.init();
  return app;
}
