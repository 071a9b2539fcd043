/**
 * The tools that a client chose in the URL of its first request: certain toolsets, or read-only
 * tools.
 */
import { moduleNames } from '#contract/agent/modules'
import { operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { fail } from '#kernel/errors'

export interface View {
  /**
   * Undefined if the client named none: it then gets all toolsets, except modules that the
   * workspace has not enabled.
   */
  toolsets: ReadonlySet<string> | undefined
  /** Modules that the workspace has enabled, as far as known; see `withModules`. */
  modules?: ReadonlySet<string>
  readOnly: boolean
}

/**
 * The module that a tool belongs to. Undefined for tools of the API document, which are always
 * listed.
 */
export const moduleOf = ({ id }: Pick<NamedOp, 'id'>): string | undefined =>
  moduleNames.find((name) => id.startsWith(`${name}.`))

type Listed = Pick<NamedOp, 'id' | 'tool' | 'toolset'>

/**
 * A toolset is either a module or the resource that a tool works on: `growth.items.list` belongs to
 * `items`. Some tools name their toolset.
 */
export const toolsetOf = (o: Pick<Listed, 'id' | 'toolset'>): string =>
  o.toolset ?? moduleOf(o) ?? o.id.split('.').at(-2)!

/** Toolsets for a particular purpose, whose tools are also in other toolsets. */
const chosen: Readonly<Record<string, ReadonlySet<string>>> = {
  /** Everything that happens to a post, in few tools. */
  core: new Set([
    ...[
      'growth_overview',
      'growth_get_brief',
      'growth_update_profile',
      'growth_connection_status',
      'growth_create_batch',
    ],
    ...[
      'growth_list_queue',
      'growth_get_record',
      'growth_create_item',
      'growth_edit_item',
      'growth_approve_item',
      'growth_reject_item',
    ],
    ...[
      'growth_reopen_item',
      'growth_schedule_item',
      'growth_unschedule_item',
      'growth_post_item',
      'growth_mark_item_posted',
    ],
    ...[
      'growth_bulk_items',
      'growth_add_learning',
      'growth_pause_automation',
      'growth_resume_automation',
    ],
  ]),
  /** Everything that can be done to items. */
  content: new Set([
    ...[
      'growth_create_batch',
      'growth_create_article',
      'growth_list_queue',
      'growth_approve_item',
      'growth_reject_item',
    ],
    ...[
      'growth_schedule_item',
      'growth_unschedule_item',
      'growth_post_item',
      'growth_mark_item_posted',
    ],
  ]),
}

export const toolsets: readonly string[] = [
  ...new Set([
    ...Object.keys(chosen),
    ...operations.filter((o) => o.tool !== undefined).map(toolsetOf),
  ]),
]

/** Whether one of these toolsets has the tool. */
export const hasTool = (names: ReadonlySet<string>, o: Listed): boolean =>
  names.has(toolsetOf(o)) || [...names].some((name) => chosen[name]?.has(o.tool ?? ''))

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

/**
 * Reads `?toolsets=items,batches&readonly=1`; `read_only` is an alias. Throws `invalid_input`,
 * listing the toolsets.
 */
export const parseView = (url: string): View => {
  const { searchParams } = new URL(url)
  const names = searchParams
    .getAll('toolsets')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const wanted = names.flatMap((name) => (name === ALL ? toolsets : knownToolset(name)))
  const readOnly = ['readonly', 'read_only'].some((name) =>
    searchParams.getAll(name).some((text) => isYes(name, text)),
  )
  return { toolsets: names.length === 0 ? undefined : new Set(wanted), readOnly }
}
