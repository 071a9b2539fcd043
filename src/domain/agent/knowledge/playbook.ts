/**
 * What a workspace tells its agent to do. A playbook is active ⇄ archived, and one of its versions
 * is active. Versions: draft → active or rejected; active → retired, when another becomes active;
 * retired → active.
 */
import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'

export type Playbook = RowOf<typeof playbookRecord>
export type PlaybookVersion = RowOf<typeof versionRecord>

/** Who wrote or decided something. For an agent, the id is that of its job. */
export type VersionAuthor = PlaybookVersion['author']

export const playbookLimits = {
  /** Active playbooks of a workspace; below, all of them: none is ever deleted. */
  active: 100,
  all: 1_000,
  pinned: 10,
  /**
   * Versions of one playbook. A new version replaces the oldest one that was rejected or
   * retired.
   */
  versions: 50,
} as const

/** How many playbooks the workspace has, not counting the one in question. */
export interface PlaybookCounts {
  all: number
  active: number
  pinned: number
}

const refuse = (path: string, message: string): never =>
  fail(
    'invalid_input',
    path === '' ? message : `${path} ${message}`,
    path === '' ? {} : { details: [{ path, message }] },
  )

/** Only active playbooks count: an archived one is in no prompt. */
const requireRoom = ({ pinned, status }: Playbook, counts: PlaybookCounts): void => {
  if (status !== 'active') return
  if (counts.active >= playbookLimits.active)
    refuse(
      '',
      `a workspace has at most ${playbookLimits.active} active playbooks; archive one first`,
    )
  if (pinned && counts.pinned >= playbookLimits.pinned)
    refuse('pinned', `is possible for ${playbookLimits.pinned} active playbooks; unpin one first`)
}

type NewPlaybook = Pick<Playbook, 'id' | 'slug' | 'name' | 'description' | 'pinned'> & {
  /** Whether another playbook has the slug. */
  taken: boolean
  counts: PlaybookCounts
  now: Date
}

/** Throws `conflict` for a slug that exists, and `invalid_input` where there is no room. */
export const newPlaybook = ({ taken, counts, now, ...given }: NewPlaybook): Playbook => {
  if (taken)
    fail(
      'conflict',
      `the slug ${given.slug} exists; choose another, or add a version to that playbook`,
      { reason: 'duplicate' },
    )
  if (counts.all >= playbookLimits.all)
    refuse('', `a workspace has at most ${playbookLimits.all} playbooks, archived ones included`)
  const playbook: Playbook = {
    ...given,
    name: given.name.trim(),
    status: 'active',
    created_at: now,
    updated_at: now,
  }
  requireRoom(playbook, counts)
  return playbook
}

export type PlaybookChanges = Partial<Pick<Playbook, 'name' | 'description' | 'pinned' | 'status'>>

/** Throws `invalid_input` where there is no room. */
export const updatePlaybook = (
  before: Playbook,
  changes: PlaybookChanges,
  counts: PlaybookCounts,
  now: Date,
): Playbook => {
  const after = { ...before, ...changes, updated_at: now }
  const changesRoom = after.status !== before.status || (after.pinned && !before.pinned)
  if (changesRoom) requireRoom(after, counts)
  return { ...after, name: after.name.trim() }
}

/** How many versions a playbook has, and which of them could make room. */
export interface VersionRoom {
  count: number
  newest: number
  /** The oldest version that was rejected or retired. */
  oldest: string | null
}

export type NewVersion = Pick<
  PlaybookVersion,
  'id' | 'playbook_id' | 'content' | 'rationale' | 'author' | 'untrusted'
> & { now: Date }

/** Version 1 is active at once: making the playbook counts as the decision. */
export const firstVersion = ({ now, ...given }: NewVersion): PlaybookVersion => ({
  ...given,
  number: 1,
  state: 'active',
  decided_by: given.author,
  decided_at: now,
  created_at: now,
  updated_at: now,
})

/**
 * A draft changes nothing until it is activated. `removed`: the version that is dropped to make
 * room. Throws `invalid_input` if none can be.
 */
export const newDraft = ({ count, newest, oldest }: VersionRoom, { now, ...given }: NewVersion) => {
  if (count >= playbookLimits.versions && oldest === null)
    refuse('', `${count - 1} drafts of this playbook wait for a decision; decide about those first`)
  const version: PlaybookVersion = {
    ...given,
    number: newest + 1,
    state: 'draft',
    decided_by: null,
    decided_at: null,
    created_at: now,
    updated_at: now,
  }
  return { version, removed: count >= playbookLimits.versions ? oldest : null }
}

interface Decision {
  by: VersionAuthor
  now: Date
}

/**
 * Whether only a signed-in person may activate it: the agent does not decide about its own texts.
 */
export const needsPerson = ({ state, author }: PlaybookVersion): boolean =>
  state === 'draft' && author.kind === 'agent'

/**
 * Throws `invalid_input` unless the version is a draft or retired. `former`: the version that was
 * active.
 */
export const activate = (
  version: PlaybookVersion,
  former: PlaybookVersion | undefined,
  { by, now }: Decision,
) => {
  if (version.state !== 'draft' && version.state !== 'retired')
    refuse(
      '',
      `cannot activate: the version is ${version.state}; only a draft or a retired version can be activated`,
    )
  const activated: PlaybookVersion = {
    ...version,
    state: 'active',
    untrusted: false,
    decided_by: by,
    decided_at: now,
    updated_at: now,
  }
  return { activated, retired: former && { ...former, state: 'retired' as const, updated_at: now } }
}

/** Throws `invalid_input` unless the version is a draft. */
export const rejectVersion = (version: PlaybookVersion, { by, now }: Decision): PlaybookVersion => {
  if (version.state !== 'draft')
    refuse('', `cannot reject: the version is ${version.state}; only a draft can be rejected`)
  return { ...version, state: 'rejected', decided_by: by, decided_at: now, updated_at: now }
}

/** A version whose text was given to a job. */
export interface GivenPlaybook {
  slug: string
  version: number
}

/** The playbooks in the answer of a tool. */
export const givenBy = (tool: string, answer: unknown): GivenPlaybook[] => {
  if (tool !== 'read_playbook') return []
  const { slug, version } = answer as GivenPlaybook
  return [{ slug, version }]
}

/** The page where a person decides about a draft. */
export const versionUrl = (publicUrl: string, playbookId: string, id: string): string =>
  `${publicUrl}/playbooks/${playbookId}/versions/${id}`

const view = viewOf(playbookRecord)

/** `content`: the text of its active version. */
export const playbookView = (playbook: Playbook, content: string) => ({
  ...view(playbook),
  content,
})

const viewOfVersion = viewOf(versionRecord)

const authorView = ({ kind, id, personId = null }: VersionAuthor) => ({ kind, id, personId })

export const versionView = (version: PlaybookVersion) => ({
  ...viewOfVersion(version),
  author: authorView(version.author),
  decidedBy: version.decided_by && authorView(version.decided_by),
})
