/** What a client asked for in the address of its first request: some groups of tools, and no tools that change anything. */
import { operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { fail } from '#kernel/errors'

export interface View {
  /** Undefined: all. */
  toolsets: ReadonlySet<string> | undefined
  readOnly: boolean
}

/** A tool's group is the resource that it works on: `growth.items.list` is of `items`. */
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
  const message = `must be some of ${toolsets.join(', ')}, separated by commas`
  return fail('invalid_input', `toolsets ${message}`, { details: [{ path: 'toolsets', message }] })
}

/** `?toolsets=items,batches&readonly=1`; `read_only` says the same. Throws `invalid_input` naming the toolsets there are. */
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
