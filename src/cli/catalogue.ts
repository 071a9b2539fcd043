/** The operations as commands: `growth.items.postNow` is `items post-now`. */
import { operations, resources } from '#contract/index'
import { type NamedOp, nameOperations, type Resource } from '#contract/op'
import { settlingId } from '#contract/settling'
import { kebab, reservedGroups } from './names.ts'

export interface NamedCommand {
  /** One word, or two, as in `agent jobs`. Empty if the name alone is the command. */
  group: string
  name: string
  operation: NamedOp
}

export interface CommandGroup {
  name: string
  about: string
  commands: NamedCommand[]
}

const fits = (groups: Map<string, CommandGroup>, name: string, names: string[]): boolean =>
  !reservedGroups.has(name) &&
  !groups.get(name)?.commands.some((command) => names.includes(command.name))

/** Areas whose groups have two words, because their names alone also belong to other things. */
export const areas: ReadonlyMap<string, string> = new Map([
  ['agent', 'The workspace agent: conversations, jobs and approvals.'],
])

/**
 * A group is named after the last segment of its resource's prefix. In an area, the area comes
 * first. Resources with the same name share a group. If two of their commands would clash, the
 * later resource uses its full prefix.
 */
export const groupsOf = (all: readonly Resource[]): CommandGroup[] => {
  const groups = new Map<string, CommandGroup>()
  for (const resource of all) {
    const parts = resource.prefix.split('.').map(kebab)
    const entries = nameOperations(resource).map((operation) => ({
      name: kebab(operation.id.slice(resource.prefix.length + 1)),
      operation,
    }))
    const short = areas.has(parts[0]!) ? parts.join(' ') : parts.at(-1)!
    const names = entries.map(({ name }) => name)
    const group = fits(groups, short, names) ? short : parts.join('-')
    const before = groups.get(group)
    const about = before ? `${before.about} ${resource.about}` : resource.about
    groups.set(group, {
      name: group,
      about,
      commands: [...(before?.commands ?? []), ...entries.map((entry) => ({ group, ...entry }))],
    })
  }
  return [...groups.values()]
}

export const groups: CommandGroup[] = groupsOf(resources)

const byWords = new Map(
  groups
    .flatMap(({ commands }) => commands)
    .map((command) => [`${command.group} ${command.name}`, command]),
)

/** The command that these words begin with. */
export const commandAt = (words: readonly string[]): NamedCommand | undefined =>
  byWords.get(words.slice(0, 2).join(' ')) ?? byWords.get(words.slice(0, 3).join(' '))

/** The operation to poll for a generation. */
export const settlingOf = (o: NamedOp): NamedOp | undefined =>
  operations.find(({ id }) => id === settlingId(o))

/** The operation that reads the record that an operation concerns. */
export const readingOf = ({ id }: NamedOp): NamedOp | undefined => {
  const reading = `${id.slice(0, id.lastIndexOf('.'))}.get`
  return operations.find((one) => one.id === reading)
}

/** For example `batches get`, for hints. */
export const commandWords = (o: NamedOp): string => {
  const command = [...byWords.values()].find(({ operation }) => operation.id === o.id)
  return command ? `${command.group} ${command.name}` : o.id
}

/** The fields of a list's records and cursor; undefined for other operations. */
export const listOf = (
  o: NamedOp,
): { records: string; cursor: 'next_cursor' | 'nextCursor' } | undefined => {
  const properties = (o.output.properties ?? {}) as Record<string, { type?: string }>
  const cursor = (['next_cursor', 'nextCursor'] as const).find((name) => name in properties)
  const records = Object.keys(properties).find((name) => properties[name]?.type === 'array')
  return cursor && records && 'cursor' in o.input.properties ? { records, cursor } : undefined
}
