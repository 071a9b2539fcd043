/** Which texts the console was given, by the document of the API, and which were hostile. */
import type { BrowserContext, Response } from 'playwright-core'
import document from '../../../openapi.json' with { type: 'json' }
import { isHostile } from './texts.ts'

interface Schema {
  $ref?: string
  anyOf?: Schema[]
  type?: string
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  title?: string
  properties?: Record<string, Schema>
  items?: Schema
}

interface Operation {
  responses: Record<string, { content?: { 'application/json'?: { schema: Schema } } }>
}

const { paths, components } = document as unknown as {
  paths: Record<string, { get?: Operation }>
  components: { schemas: Record<string, Schema> }
}

/** Reads, with what is in an address instead of `{id}`: the exact ones first. */
const reads = Object.entries(paths)
  .flatMap(([path, { get }]) => {
    const schema = get?.responses['200']?.content?.['application/json']?.schema
    return schema ? [{ path, schema }] : []
  })
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
  .map(({ path, schema }) => ({
    schema,
    is: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    name: path.replace('/api/v1/', ''),
  }))

/** Hands over each string that the document leaves free, by the record and the field it is in. */
const walk = (
  given: Schema,
  { value, name }: { value: unknown; name: string },
  found: (name: string, text: string) => void,
): void => {
  const named = given.$ref?.split('/').at(-1)
  const schema = named ? components.schemas[named]! : given
  const called = schema.title ?? named ?? name
  for (const one of schema.anyOf ?? []) walk(one, { value, name: called }, found)
  if (typeof value === 'string') {
    const isFree = schema.type === 'string' && !schema.enum && !schema.format && !schema.pattern
    if (isFree && schema.const === undefined) found(name, value)
  } else if (Array.isArray(value)) {
    if (schema.items) for (const one of value) walk(schema.items, { value: one, name }, found)
  } else if (value !== null && typeof value === 'object')
    for (const [key, one] of Object.entries(value)) {
      const of = schema.properties?.[key]
      if (of) walk(of, { value: one, name: `${called}.${key}` }, found)
    }
}

/** By the name of the field: whether it ever was hostile. */
export type Given = Map<string, boolean>

const readAnswer = async (response: Response, given: Given): Promise<void> => {
  const { pathname } = new URL(response.url())
  const read = reads.find(({ is }) => is.test(pathname))
  if (!read || response.request().method() !== 'GET' || response.status() !== 200) return
  const value = (await response.json().catch(() => null)) as unknown
  walk(read.schema, { value, name: read.name }, (name, text) =>
    given.set(name, given.get(name) || isHostile(text)),
  )
}

/** Notes the texts of every answer that a page of the browser gets. */
export const noteAnswers = (context: BrowserContext, given: Given): void =>
  void context.on('response', (response) => void readAnswer(response, given))
