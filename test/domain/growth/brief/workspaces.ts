/** What the brief is told of a workspace: one with nothing to do, and changes of it. */
import {
  type BriefFacts,
  type BriefRow,
  type FoundGroup,
  type FoundRows,
  foundGroups,
} from '#domain/growth/brief/brief'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import { at, DAY } from '#test/domain/records'

export const found = (count: number, more: Partial<BriefRow> = {}): FoundRows => ({
  count,
  rows: Array.from({ length: Math.min(count, 10) }, (_, index) => ({
    id: `id-${index}`,
    type: 'post' as const,
    title: `Post ${index}`,
    status: 'drafted',
    at: at(-3 * DAY),
    ...more,
  })),
})
export const nothing = found(0)
const noItems = Object.fromEntries(foundGroups.map((name) => [name, nothing])) as Record<
  FoundGroup,
  FoundRows
>

/** A workspace with a planned week and nothing to do. */
export const calm: BriefFacts = Object.freeze({
  now: at(),
  paused: false,
  billing: 'ok',
  quota: { used: 10, limit: 100, resetsAt: at(9 * DAY) },
  near: [],
  reads: { tier: 'free' as const, limit: 1_000, used: 10, reserved: 100 },
  items: { ...noItems, scheduled: found(3, { status: 'approved' }) },
  drafting: 0,
  lastError: null,
  ready: nothing,
  replies: nothing,
  accounts: { connected: 1, known: 1, lost: [] },
  missing: [],
  isBare: false,
  profileUpdatedAt: at(-59 * DAY),
  activeLearnings: 3,
  measured: 20,
  auditedAt: null,
  mayAudit: true,
  mayEngage: true,
  isInactive: false,
  cadences: { posts: true, articles: false },
  engageBy: 'reply',
  slots: [],
})
export const withItems = (items: Partial<Record<FoundGroup, FoundRows>>): Partial<BriefFacts> => ({
  items: { ...calm.items, ...items },
})
export const kindsOf = (changes: Partial<BriefFacts>) =>
  actionsOf({ ...calm, ...changes }).map(({ kind }) => kind)
export const first = (changes: Partial<BriefFacts>) => actionsOf({ ...calm, ...changes })[0]!
