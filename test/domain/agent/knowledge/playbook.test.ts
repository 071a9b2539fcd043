/** States of playbooks and of their versions: each trigger in each state. */
import { describe, expect, test } from 'bun:test'
import {
  activate,
  firstVersion,
  needsPerson,
  newDraft,
  newPlaybook,
  type Playbook,
  type PlaybookVersion,
  playbookLimits,
  rejectVersion,
  updatePlaybook,
} from '#domain/agent/knowledge/playbook'
import { AppError } from '#kernel/errors'

const [before, now] = [new Date('2026-11-20T08:00:00Z'), new Date('2026-11-22T08:00:00Z')]
const [person, job] = [
  { kind: 'session', id: 's', personId: 'ada' } as const,
  { kind: 'agent', id: 'j' } as const,
]
const by = { by: person, now }

const version = (changes: Partial<PlaybookVersion> = {}): PlaybookVersion => ({
  id: 'v2',
  playbook_id: 'p',
  number: 2,
  content: 'New',
  rationale: 'Why',
  state: 'draft',
  author: job,
  untrusted: true,
  decided_by: null,
  decided_at: null,
  created_at: before,
  updated_at: before,
  ...changes,
})
const former = version({
  id: 'v1',
  number: 1,
  content: 'Old',
  state: 'active',
  author: person,
  untrusted: false,
})

const codeOf = (run: () => unknown): string | undefined => {
  try {
    run()
    return undefined
  } catch (cause) {
    return AppError.from(cause).code
  }
}

const outcomes: [PlaybookVersion['state'], activates: boolean, rejects: boolean][] = [
  ['draft', true, true],
  ['active', false, false],
  ['retired', true, false],
  ['rejected', false, false],
]
describe.each(outcomes)('a version that is %s', (state, activates, rejects) => {
  test(`is ${activates ? '' : 'not '}activated`, () => {
    const run = () => activate(version({ state }), former, by)
    if (!activates) return expect(codeOf(run)).toBe('invalid_input')
    expect(run().activated).toMatchObject({
      state: 'active',
      untrusted: false,
      decided_by: person,
      decided_at: now,
    })
    expect(run().retired).toEqual({ ...former, state: 'retired', updated_at: now })
  })

  test(`is ${rejects ? '' : 'not '}rejected`, () => {
    const run = () => rejectVersion(version({ state }), by)
    if (!rejects) return expect(codeOf(run)).toBe('invalid_input')
    expect(run()).toMatchObject({
      state: 'rejected',
      untrusted: true,
      decided_by: person,
      decided_at: now,
    })
  })

  test('takes a person to activate only if a job wrote it and nobody has decided yet', () => {
    expect(needsPerson(version({ state }))).toBe(state === 'draft')
    expect(needsPerson(version({ state, author: { kind: 'key', id: 'k' } }))).toBe(false)
  })
})

test('version 1 is active, and the next are drafts', () => {
  const given = {
    id: 'v',
    playbook_id: 'p',
    content: 'Text',
    rationale: null,
    author: person,
    untrusted: false,
    now,
  }
  expect(firstVersion(given)).toMatchObject({
    number: 1,
    state: 'active',
    decided_by: person,
    decided_at: now,
  })
  const { version: draft, removed } = newDraft({ count: 1, newest: 1, oldest: null }, given)
  expect([draft, removed]).toEqual([
    expect.objectContaining({ number: 2, state: 'draft', decided_by: null, decided_at: null }),
    null,
  ])
  expect(
    newDraft({ count: playbookLimits.versions, newest: 70, oldest: 'v9' }, given),
  ).toMatchObject({
    version: { number: 71 },
    removed: 'v9',
  })
  expect(
    codeOf(() => newDraft({ count: playbookLimits.versions, newest: 50, oldest: null }, given)),
  ).toBe('invalid_input')
})

const playbook: Playbook = {
  id: 'p',
  slug: 'launch',
  name: 'Launch',
  description: null,
  pinned: false,
  status: 'active',
  created_at: before,
  updated_at: before,
}
const none = { all: 0, active: 0, pinned: 0 }
const make = (changes: object, pinned = false) =>
  newPlaybook({
    id: 'p',
    slug: 'launch',
    name: ' Launch ',
    description: null,
    pinned,
    taken: false,
    counts: { ...none, ...changes },
    now,
  })

test('a playbook is made active, within what a workspace may have', () => {
  expect(
    make({ active: playbookLimits.active - 1, pinned: playbookLimits.pinned - 1 }, true),
  ).toMatchObject({
    name: 'Launch',
    status: 'active',
    pinned: true,
  })
  expect(make({ pinned: playbookLimits.pinned })).toMatchObject({ pinned: false })
  expect(codeOf(() => make({ active: playbookLimits.active }))).toBe('invalid_input')
  expect(codeOf(() => make({ all: playbookLimits.all }))).toBe('invalid_input')
  expect(codeOf(() => make({ pinned: playbookLimits.pinned }, true))).toBe('invalid_input')
  const taken = () => newPlaybook({ ...playbook, taken: true, counts: none, now })
  expect(codeOf(taken)).toBe('conflict')
})

const full = { all: 300, active: playbookLimits.active, pinned: playbookLimits.pinned }
const changes: [string, Partial<Playbook>, Partial<Playbook>, isRefused: boolean][] = [
  ['renaming', {}, { name: 'Other' }, false],
  ['archiving', {}, { status: 'archived' }, false],
  ['pinning', {}, { pinned: true }, true],
  ['unpinning', { pinned: true }, { pinned: false }, false],
  ['pinning what is pinned', { pinned: true }, { pinned: true }, false],
  ['pinning what is archived', { status: 'archived' }, { pinned: true }, false],
  ['making active again', { status: 'archived' }, { status: 'active' }, true],
  ['leaving it archived', { status: 'archived' }, { status: 'archived' }, false],
]
test.each(changes)('%s in a full workspace', (_, state, patch, isRefused) => {
  const run = () => updatePlaybook({ ...playbook, ...state }, patch, full, now)
  if (isRefused) return expect(codeOf(run)).toBe('invalid_input')
  expect(run()).toEqual({ ...playbook, ...state, ...patch, updated_at: now })
})
