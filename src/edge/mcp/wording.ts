/**
 * How operations are described to models that are not MCP clients, which are those of the agent.
 */
import type { TObject, TSchema } from '@sinclair/typebox'
import type { ToolWording } from '#ops/agent/toolbox/toolbox'
import { isFields, writeText } from './answer/text.ts'
import { entryPlace, fieldPlace, type SchemaPlace, schemaPlace } from './answer/trust.ts'
import { inputSchema } from './schema.ts'
import { shortTitle } from './tools.ts'

/** Whether strangers wrote any text in a value. */
const isForeign = (value: unknown, place: SchemaPlace): boolean => {
  if (typeof value === 'string') return place.untrusted && value.trim() !== ''
  if (Array.isArray(value)) {
    const entry = entryPlace(place)
    return value.some((one) => isForeign(one, entry))
  }
  if (!isFields(value)) return false
  return Object.entries(value).some(([name, one]) => isForeign(one, fieldPlace(place, value, name)))
}

/** The input without the fields that only people set. */
const forModels = (input: TSchema): TSchema => {
  const properties = Object.entries(input.properties as TObject['properties']).filter(
    ([, field]) => field['x-only-people'] !== true,
  )
  return { ...input, properties: Object.fromEntries(properties) }
}

export const toolWording: ToolWording = {
  title: ({ summary }) => shortTitle(summary),
  description: ({ summary }) => summary,
  parameters: ({ input }) => inputSchema(forModels(input), new Set()),
  text: (schema, value) => writeText(value, schema),
  isForeign: (schema, value) => isForeign(value, schemaPlace(schema)),
}
