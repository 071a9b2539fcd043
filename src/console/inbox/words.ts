/** What the kinds of what waits are called, in the order of their tabs. */
import type { EntryKind, InboxEntry } from './entries.ts'

interface KindWords {
  one: string
  many: string
}

export const kindWords: Record<EntryKind, KindWords> = {
  restored: { one: 'perhaps sent elsewhere', many: 'Perhaps sent elsewhere' },
  doubt: { one: 'nobody knows yet', many: 'Nobody knows yet' },
  refused: { one: 'refused by the network', many: 'Refused' },
  call: { one: 'the agent asks', many: 'The agent asks' },
  reply: { one: 'reply', many: 'Replies' },
  playbook: { one: 'playbook', many: 'Playbooks' },
  tool_change: { one: 'changed tool', many: 'Changed tools' },
  draft: { one: 'draft', many: 'Drafts' },
  article: { one: 'article', many: 'Articles' },
  engagement: { one: 'engagement', many: 'Engagements' },
}

export const shownKinds = Object.keys(kindWords) as EntryKind[]

/** The kinds that are grouped by what asked for them; the others by what they are. */
const BY_SOURCE: readonly EntryKind[] = ['draft', 'article', 'engagement']

type Source = NonNullable<InboxEntry['source']>
export type SourceKind = Source['kind']

export const sourceWords: Record<SourceKind, string> = {
  batch: 'A batch',
  article: 'An article that was asked for',
  rule: 'A rule',
  person: 'Written by hand',
  key: 'A program',
  agent: 'The agent',
  system: 'Drafted',
  resurfaced: 'Resurfaced',
  arm: 'An experiment',
}

export const shownSources = Object.keys(sourceWords) as SourceKind[]

/** The heading of the group that an entry belongs to. */
export const groupOf = ({ kind, source }: InboxEntry): string => {
  if (!BY_SOURCE.includes(kind)) return kindWords[kind].many
  if (!source) return kindWords[kind].many
  if (!source.name) return sourceWords[source.kind]
  return source.kind === 'batch' ? source.name : `${sourceWords[source.kind]}: ${source.name}`
}

/** Of a text with no opening pattern. */
const NO_HOOK = 'none'

/** How a text opens, in words; undefined if it opens in no particular way. */
export const wordsOfHook = (hook: string | null): string | undefined =>
  hook && hook !== NO_HOOK ? hook.replaceAll(/[-_]/g, ' ') : undefined
