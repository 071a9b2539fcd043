/** How operations are worded for models that are not MCP clients: the agent's. */
import type { TObject, TSchema } from '@sinclair/typebox'
import type { ToolWording } from '#ops/toolbox'
import { entryOf, fieldOf, isUntrusted } from './declared-fields.ts'
import { inputSchema } from './schema.ts'
import { textOf } from './text.ts'
import { titleOf } from './tools.ts'

/** Whether strangers wrote any text in a value. */
const isForeign = (schema: TSchema | undefined, value: unknown, inside = false): boolean => {
  const here = inside || isUntrusted(schema)
  if (typeof value === 'string') return here && value.trim() !== ''
  if (Array.isArray(value)) return value.some((one) => isForeign(entryOf(schema), one, here))
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, one]) => isForeign(fieldOf(schema, name), one, here))
}

/** Without the fields that only people give. */
const forModels = (input: TSchema): TSchema => {
  const properties = Object.entries(input.properties as TObject['properties']).filter(([, field]) => field['x-only-people'] !== true)
  return { ...input, properties: Object.fromEntries(properties) }
}

export const toolWording: ToolWording = {
  title: ({ summary }) => titleOf(summary),
  description: ({ summary }) => summary,
  parameters: ({ input }) => inputSchema(forModels(input), new Set()),
  text: (schema, value) => textOf(value, schema),
  isForeign: (schema, value) => isForeign(schema, value),
}
