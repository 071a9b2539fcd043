/** The tools that a client chose in the URL of its first request: certain toolsets, or read-only tools. */
import { operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { fail } from '#kernel/errors'

export interface View {
  /** Undefined for all. */
  toolsets: ReadonlySet<string> | undefined
  readOnly: boolean
}

/** A toolset is the resource that a tool works on: `growth.items.list` belongs to `items`. */
export const toolsetOf = ({ id }: Pick<NamedOp, 'id'>): string => id.split('.').at(-2)!

export const toolsets: readonly string[] = [...new Set(operations.filter((o) => o.tool).map(toolsetOf))]

const ALL = 'all'
const yes = new Set(['', '1', 'true'])
const no = new Set(['0', 'false'])

const isYes = (name: string, text: string): boolean => {
  if (yes.has(text)) return true
  if (no.has(text)) return false
  const message = 'must be 1 or true, or 0 or false'
  return fail('invalid_input', `${name} ${message}`, { details: [{ path: name, message }] })
}

const knownToolset = (name: string): string => {
  const known = toolsets.find((one) => one.toLowerCase() === name.toLowerCase())
  if (known !== undefined) return known
  const message = `must be a comma-separated list of ${toolsets.join(', ')}`
  return fail('invalid_input', `toolsets ${message}`, { details: [{ path: 'toolsets', message }] })
}

/** Reads `?toolsets=items,batches&readonly=1`; `read_only` is an alias. Throws `invalid_input`, listing the toolsets. */
export const viewOf = (url: string): View => {
  const { searchParams } = new URL(url)
  const names = searchParams
    .getAll('toolsets')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const chosen = names.filter((name) => name !== ALL).map(knownToolset)
  const readOnly = ['readonly', 'read_only'].some((name) => searchParams.getAll(name).some((text) => isYes(name, text)))
  return { toolsets: names.length === 0 || names.includes(ALL) ? undefined : new Set(chosen), readOnly }
}
