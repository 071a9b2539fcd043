/** Schemas as the document has them. A schema with a title appears once, and is referred to. */
import type { TSchema } from '@sinclair/typebox'

/** Schemas by title; each appears once in the document. */
export type Components = Map<string, object>

/** Plain JSON Schema, without TypeBox's symbols; schemas with a title become references. */
export const plain = (schema: TSchema, components: Components): object =>
  hoist(JSON.parse(JSON.stringify(schema)), components) as object

const hoist = (node: unknown, components: Components): unknown => {
  if (Array.isArray(node)) return node.map((child) => hoist(child, components))
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, child]) => [key, hoist(child, components)]),
  )
  if (copy.type !== 'object' || typeof copy.title !== 'string') return copy
  const known = components.get(copy.title)
  if (known && !Bun.deepEquals(known, copy))
    throw new Error(`two schemas have the title ${copy.title}`)
  components.set(copy.title, copy)
  return { $ref: `#/components/schemas/${copy.title}` }
}
