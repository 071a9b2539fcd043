/**
 * The tools of the simulated workspace: one of each class and way, and enough others that not all
 * are defined at once.
 */
import { coreTools } from '#domain/agent/job/prompt'
import type { ToolClass, ToolWay } from '#domain/agent/job/step'
import type { ToolForms } from '#domain/agent/job/tool-answer'
import { type Role, roles } from '#kernel/roles'

export interface SimTool {
  name: string
  class: ToolClass
  way: ToolWay
  /** Its answers hold words of strangers. */
  foreign?: boolean
  /** Its record is settled later. */
  settles?: boolean
  /** It makes a child. */
  delegates?: boolean
  /** Another program has it. */
  server?: string
}

const special: SimTool[] = [
  { name: 'list', class: 'read', way: 'read' },
  { name: 'signals', class: 'read', way: 'read', foreign: true },
  { name: 'page', class: 'outside_read', way: 'outside', foreign: true },
  { name: 'note', class: 'draft', way: 'command' },
  { name: 'batch', class: 'draft', way: 'command', settles: true },
  { name: 'engage', class: 'draft', way: 'reach' },
  { name: 'publish', class: 'commit', way: 'command' },
  { name: 'post', class: 'commit', way: 'command', settles: true },
  { name: 'pause', class: 'safe', way: 'urgent' },
  { name: 'sms', class: 'outside_write', way: 'outside', server: 'phone' },
  { name: 'delegate', class: 'draft', way: 'command', delegates: true },
  { name: 'use_tools', class: 'read', way: 'command' },
]

const others = coreTools
  .filter((name) => name !== 'use_tools')
  .map((name): SimTool => ({ name, class: 'read', way: 'read' }))

export const tools: ReadonlyMap<string, SimTool> = new Map(
  [...special, ...others].map((tool) => [tool.name, tool]),
)
export const toolNames = [...tools.keys()]
/** What a model likes to try: not the many that only read. */
export const temptations = special.map(({ name }) => name)

/** Whether a role may run a tool, by the table of the simulated workspace. */
export const mayRun = (name: string, role: Role): boolean => {
  const of = tools.get(name)?.class
  if (of === 'read' || of === 'outside_read' || role === 'owner') return of !== undefined
  if (role === 'approver') return of === 'commit'
  return role === 'editor' && (of === 'draft' || of === 'safe' || of === 'outside_write')
}

/** The roles that may run a tool. */
export const rolesOf = (name: string): Role[] => roles.filter((role) => mayRun(name, role))

export const forms: ToolForms = {
  tools,
  kept: (_, value) => value,
  naming: () => ({}),
  text: (_, value) => JSON.stringify(value),
  sources: () => undefined,
  isForeign: (name) => tools.get(name)!.foreign === true,
}
