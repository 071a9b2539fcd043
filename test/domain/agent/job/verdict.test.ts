/** What may happen without a person, whatever a model asks for. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { channelNames } from '#contract/channel-names'
import { channelTaint } from '#domain/agent/channel/trust'
import { offeredTools } from '#domain/agent/job/offer'
import type { ToolClass } from '#domain/agent/job/step'
import { type CallFacts, verdictOf } from '#domain/agent/job/verdict'
import { runs } from '#test/support/property'

const classes: ToolClass[] = ['read', 'draft', 'commit', 'safe', 'outside_read', 'outside_write']

const facts: CallFacts = { class: 'draft', offered: true, mayRun: true, taint: [], rule: undefined }

const decisionOf = (changes: Partial<CallFacts>) => verdictOf({ ...facts, ...changes }).decision

test('each class of tools has its verdict: as usual, after foreign text, and for a role that may not', () => {
  const table = classes.map((of) => [
    of,
    decisionOf({ class: of }),
    decisionOf({ class: of, taint: ['page'] }),
    decisionOf({ class: of, mayRun: false }),
  ])
  expect(table).toEqual([
    ['read', 'allow', 'allow', 'deny'],
    ['draft', 'allow', 'ask', 'ask'],
    ['commit', 'ask', 'ask', 'ask'],
    ['safe', 'allow', 'allow', 'deny'],
    ['outside_read', 'allow', 'allow', 'deny'],
    ['outside_write', 'ask', 'ask', 'ask'],
  ])
})

test('the kill switch is asked of a person if anybody could have written the message, and of nobody else', () => {
  for (const channel of channelNames) {
    const taint = [channelTaint(channel)]
    expect(verdictOf({ ...facts, class: 'safe', taint })).toEqual({
      decision: 'ask',
      why: ['anybody could have written the message', `untrusted: channel ${channel}`],
    })
    expect(decisionOf({ class: 'safe', taint, mayRun: false })).toBe('deny')
    expect(decisionOf({ class: 'safe', taint, own: true })).toBe('allow')
  }
  expect(decisionOf({ class: 'safe', taint: ['fetch_url channel.example', 'conversation'] })).toBe(
    'allow',
  )
})

test('a rule allows what leaves the workspace, asks for drafts, forbids anything, and never allows what publishes', () => {
  expect(decisionOf({ class: 'outside_write', rule: 'allow' })).toBe('allow')
  expect(decisionOf({ class: 'outside_write', rule: 'allow', isRepeat: true })).toBe('ask')
  expect(decisionOf({ rule: 'ask' })).toBe('ask')
  expect(classes.map((of) => decisionOf({ class: of, rule: 'deny', own: true }))).toEqual(
    classes.map(() => 'deny'),
  )
  expect(decisionOf({ class: 'commit', rule: 'allow' })).toBe('ask')
})

test('an address that is not on the list is asked of everybody, and a rule asks about every address', () => {
  const asks = ['example.com is not on the list']
  expect(verdictOf({ ...facts, class: 'outside_read', asks, taint: ['page'] })).toEqual({
    decision: 'ask',
    why: [...asks, 'untrusted: page'],
  })
  expect(decisionOf({ class: 'outside_read', asks, own: true })).toBe('ask')
  expect(decisionOf({ class: 'outside_read', asks, mayRun: false })).toBe('deny')
  expect(
    ['ask', 'allow', 'deny'].map((rule) =>
      decisionOf({ class: 'outside_read', rule: rule as 'ask' }),
    ),
  ).toEqual(['ask', 'allow', 'deny'])
  expect(decisionOf({ class: 'outside_read', rule: 'allow', asks })).toBe('ask')
})

test('a run of a schedule makes nothing that runs by itself, whatever a rule allows', () => {
  for (const rule of ['allow', 'ask', undefined] as const)
    for (const of of classes) expect(decisionOf({ class: of, rule, makesRuns: true })).toBe('deny')
})

test('a person who types a command is asked nothing, and may do no more than the role allows', () => {
  expect(decisionOf({ class: 'commit', own: true, taint: ['page'] })).toBe('allow')
  expect(decisionOf({ class: 'commit', own: true, mayRun: false })).toBe('deny')
})

const anyClass = fc.constantFrom(...classes)
const anyTool = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  class: anyClass,
  may: fc.boolean(),
})
const anyJob = fc.record({
  all: fc.uniqueArray(anyTool, { selector: ({ name }) => name, maxLength: 5 }),
  tools: fc.option(fc.subarray(['a', 'b', 'c', 'd', 'e'])),
  denied: fc.subarray(['a', 'b', 'c', 'd', 'e']),
  readsOnly: fc.boolean(),
  rules: fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
  ),
  taint: fc.subarray(['page', 'signals']),
  calls: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '__proto__', ''), {
    minLength: 20,
    maxLength: 20,
  }),
})

test('of 100,000 calls, none commits without a person, none writes after foreign text, and none is of a tool that was not offered', () => {
  const check = fc.property(anyJob, ({ all, tools, denied, readsOnly, rules, taint, calls }) => {
    const mayRun = (name: string) => all.find((tool) => tool.name === name)?.may ?? false
    const offered = offeredTools(all, {
      job: { tools, shown: [] },
      mayRun,
      readsOnly,
      denied: new Set(denied),
    })
    for (const name of calls) {
      const tool = all.find((one) => one.name === name)
      const isOffered = offered.some((one) => one.name === name)
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
      const verdict = verdictOf({
        class: tool?.class ?? 'read',
        offered: isOffered,
        mayRun: mayRun(name),
        taint,
        rule,
      })
      if (verdict.decision === 'ask') {
        expect(verdict.why.length).toBeGreaterThan(0)
        expect(verdict.why.filter((why) => why.startsWith('untrusted: '))).toHaveLength(
          taint.length,
        )
      }
      if (verdict.decision !== 'allow') continue
      expect(tool).toBeDefined()
      expect(
        tool!.may &&
          rule !== 'deny' &&
          !denied.includes(name) &&
          (tools === null || tools.includes(name)),
      ).toBe(true)
      expect(tool!.class).not.toBe('commit')
      if (readsOnly) expect(['read', 'outside_read', 'safe']).toContain(tool!.class)
      if (taint.length > 0) expect(['read', 'outside_read', 'safe']).toContain(tool!.class)
    }
  })
  fc.assert(check, runs(5_000))
})
