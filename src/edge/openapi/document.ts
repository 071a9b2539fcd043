/**
 * The OpenAPI 3.1 document, rendered by @elysiajs/openapi from routes that are declared only for
 * it. Only `npm run generate` imports this, because the plugin brings three validation libraries
 * and overwrites our formats.
 */
import { openapi } from '@elysiajs/openapi'
import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { operations, resources } from '#contract/index'
import { braces } from '#contract/op'
import { besidePaths } from './beside.ts'
import { components, ErrorBody } from './components.ts'
import { guide } from './guide.ts'
import { detailOf } from './operation.ts'
import { type Components, plain } from './schemas.ts'
import { webhooksOf } from './webhooks.ts'

const documentation = (schemas: Components) => ({
  info: {
    title: 'Tendril',
    version: 'v1',
    summary:
      'An AI social growth operator: drafts posts, waits for human approval, and posts exactly once.',
    description: guide,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    contact: { name: 'The operator of this deployment' },
  },
  servers: [{ url: '/', description: 'This deployment' }],
  tags: [
    ...resources.map(({ prefix, about }) => ({ name: prefix, description: about })),
    { name: 'mcp', description: 'The same operations as tools for agents.' },
    {
      name: 'documents',
      description: 'Machine-readable descriptions of this deployment. No key required.',
    },
    { name: 'events', description: 'Events sent to the webhook endpoint of the workspace.' },
  ],
  components: { schemas: Object.fromEntries(schemas), ...components },
})

/** Called by `npm run generate`; the server sends the generated file. */
export async function openApiDocument(): Promise<Record<string, unknown>> {
  const schemas: Components = new Map()
  plain(ErrorBody, schemas)
  const details = operations.map((o) => ({ o, detail: detailOf(o, schemas) }))
  const show = (schema: TSchema) => plain(schema, schemas)
  const [beside, webhooks] = [besidePaths(show), webhooksOf(show)]
  const docs = new Elysia().use(
    openapi({
      provider: null,
      specPath: '/document',
      openapiVersion: '3.1.1',
      documentation: documentation(schemas) as never,
    }),
  )
  // Parameters are not written as `:name`, because the plugin would then replace our descriptions
  // of them.
  for (const { o, detail } of details)
    docs.route(o.method, braces(o.path), () => '', { detail: detail as never })
  const rendered = await docs.handle(new Request('http://localhost/document'))
  const document = (await rendered.json()) as { paths: object }
  return { ...document, paths: { ...document.paths, ...beside }, webhooks }
}
