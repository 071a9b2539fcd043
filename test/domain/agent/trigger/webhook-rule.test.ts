import { describe, expect, test } from 'bun:test'
import {
  isAnswered,
  newWebhookRule,
  revealSecret,
  revealTo,
  takesPosts,
  updateWebhookRule,
  webhookRuleLimits,
  webhookRuleTaskView,
  webhookRuleView,
} from '#domain/agent/trigger/webhook-rule'
import { errorOf } from '#test/domain/errors'
import { at } from '#test/domain/records'

const maker = { kind: 'session', id: 's-1', personId: 'p-1' } as const
const editor = { kind: 'session', id: 's-2', personId: 'p-2' } as const
const wish = {
  id: 'r',
  name: ' Orders ',
  goal: ' Look ',
  tools: null,
  on_behalf: maker,
  taint: ['fetch_url example.org'],
  reveal_to: ['p-1', 'p-2'],
}
const rule = newWebhookRule({ ...wish, total: 0, now: at() })

test('a new rule is enabled and unused, and refused beside twenty others', () => {
  expect(rule).toMatchObject({
    name: 'Orders',
    goal: 'Look',
    enabled: true,
    received: 0,
    refused: 0,
    last_at: null,
  })
  expect(
    errorOf(() => newWebhookRule({ ...wish, total: webhookRuleLimits.rules, now: at() })).code,
  ).toBe('conflict')
})

test('whoever rewrites the goal or the tools is the one in whose name it acts; other changes keep the maker', () => {
  expect(updateWebhookRule(rule, { goal: 'Other' }, editor, at())).toMatchObject({
    on_behalf: editor,
    taint: [],
  })
  expect(updateWebhookRule(rule, { tools: [] }, editor, at())).toMatchObject({
    on_behalf: editor,
    taint: rule.taint,
    tools: [],
  })
  expect(updateWebhookRule(rule, { name: 'x', enabled: false }, editor, at())).toMatchObject({
    on_behalf: maker,
    enabled: false,
  })
})

test('whoever enables a rule that is abandoned takes it over, and nobody else does', () => {
  const abandoned = { ...rule, is_abandoned: true }
  expect(webhookRuleView(abandoned)).toMatchObject({ enabled: false, disabledBy: 'caller_gone' })
  expect(webhookRuleView({ ...abandoned, enabled: false })).toMatchObject({
    enabled: false,
    disabledBy: 'person',
  })
  expect(webhookRuleView(rule)).toMatchObject({ enabled: true, disabledBy: null })
  const taken = updateWebhookRule(abandoned, { enabled: true }, editor, at())
  expect([taken.on_behalf, takesPosts(taken), taken.taint]).toEqual([editor, true, rule.taint])
  for (const patch of [{ enabled: false }, { name: 'x' }])
    expect(updateWebhookRule(abandoned, patch, editor, at())).toMatchObject({
      on_behalf: maker,
      is_abandoned: true,
    })
  expect(updateWebhookRule(rule, { enabled: true }, editor, at()).on_behalf).toEqual(maker)
})

describe('the secret', () => {
  const job = { kind: 'turn', onBehalf: maker } as const
  const direct = { kind: 'action', onBehalf: maker } as const

  test('goes to the caller itself, and where a model or an approval stands between to nobody yet', () => {
    const caller = { ...maker }
    expect([isAnswered(caller, undefined), isAnswered(caller, direct)]).toEqual([true, true])
    // An approved call runs as a session named by its person.
    const approver = { kind: 'session', id: 'p-2', personId: 'p-2' }
    expect([
      isAnswered(caller, job),
      isAnswered(approver, direct),
      isAnswered(approver, job),
    ]).toEqual([false, false, false])
  })

  test('may be shown once to whoever asked and to whoever approved', () => {
    expect(revealTo({ kind: 'session', id: 'p-2', personId: 'p-2' }, job)).toEqual(['p-1', 'p-2'])
    expect(revealTo({ ...maker }, direct)).toEqual([])
    expect(
      revealTo(
        { kind: 'session', id: 'p-2', personId: 'p-2' },
        { kind: 'action', onBehalf: { kind: 'key', id: 'k', personId: null } },
      ),
    ).toEqual(['p-2'])
    const shown = revealSecret(rule, 'p-2', at())
    expect(shown.reveal_to).toEqual([])
    expect(errorOf(() => revealSecret(shown, 'p-1', at())).code).toBe('conflict')
    expect(errorOf(() => revealSecret(rule, 'p-3', at())).code).toBe('forbidden')
  })

  test('is masked, and a goal that may follow a page is untrusted', () => {
    expect(webhookRuleTaskView(rule)).toMatchObject({
      secret: 'whsec_…',
      goal: null,
      untrustedGoal: 'Look',
    })
    expect(webhookRuleTaskView({ ...rule, taint: [] })).toMatchObject({
      goal: 'Look',
      untrustedGoal: null,
    })
  })
})
