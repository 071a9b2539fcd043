/** `why` says `publishes` only of what publishes. */
import { expect, test } from 'bun:test'
import { capabilities, operations } from '#contract/index'
import { commitReason } from '#ops/agent/toolbox/subject'

const commits = [...operations, ...capabilities].filter(({ agent }) => agent === 'commit')
const named = (reason: string, args = {}) =>
  commits
    .filter((o) => commitReason(o, args) === reason)
    .map(({ id }) => id)
    .sort()

test('each call of class commit is asked about for what it does', () => {
  expect(named('publishes')).toEqual([
    'growth.automation.resumeAll',
    'growth.engagements.execute',
    'growth.items.postNow',
    'growth.items.schedule',
  ])
  expect(named('approves')).toEqual(['growth.engagements.approve', 'growth.items.approve'])
  expect(named('changes the workspace')).toEqual([
    'agent.actions.create_webhook_rule',
    'growth.channels.update',
    'growth.connections.setDefault',
    'growth.experiments.conclude',
    'growth.items.markPosted',
    'growth.profile.update',
    'growth.rules.create',
    'growth.rules.update',
  ])
})

test('an approval that schedules publishes', () => {
  const approve = operations.find(({ id }) => id === 'growth.items.approve')!
  expect(commitReason(approve, { post_at: 'next_slot' })).toBe('publishes')
})

test('an approval that is executed at once publishes', () => {
  const approve = operations.find(({ id }) => id === 'growth.engagements.approve')!
  expect(commitReason(approve, { execute: false })).toBe('approves')
  expect(commitReason(approve, { execute: true })).toBe('publishes')
})
