import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { type DeedName, isDeed, isNeedless } from '#domain/agent/job/overtaking'

const deeds = operations.map(({ id }) => id).filter(isDeed)
const tools = operations.flatMap(({ tool }) => tool ?? [])
const toolOf = (deed: DeedName) => operations.find(({ id }) => id === deed)!.tool

test('an act makes a call of the same operation needless, and no call about something else', () => {
  expect(deeds).toHaveLength(17)
  for (const deed of deeds) {
    const tool = toolOf(deed)
    expect([deed, tool === undefined || isNeedless(deed, tool)]).toEqual([deed, true])
    const area = deed.split('.')[1]!.slice(0, -1)
    const needless = tools.filter((one) => isNeedless(deed, one))
    if (deed.endsWith('.remove')) expect(needless).toEqual(tools)
    else if (area === 'item' || area === 'engagement')
      expect(needless.filter((one) => !/_(item|engagement)(_posted)?$/.test(one))).toEqual([])
    else expect(needless).toEqual([tool!])
  }
})

test.each<[DeedName, string, boolean]>([
  ['growth.items.approve', 'growth_approve_item', true],
  ['growth.items.approve', 'growth_reject_item', true],
  ['growth.items.approve', 'growth_schedule_item', false],
  ['growth.items.approve', 'growth_edit_item', false],
  ['growth.items.reject', 'growth_approve_item', true],
  ['growth.items.reject', 'growth_reopen_item', false],
  ['growth.items.reopen', 'growth_post_item', true],
  ['growth.items.reopen', 'growth_approve_item', false],
  ['growth.items.markPosted', 'growth_post_item', true],
  ['growth.items.sent', 'growth_post_item', true],
  ['growth.items.sent', 'growth_approve_item', false],
  ['growth.engagements.sent', 'growth_execute_engagement', true],
  ['growth.engagements.done', 'growth_execute_engagement', true],
  ['growth.engagements.approve', 'growth_execute_engagement', false],
])('%s and a call of %s: needless %p', (deed, tool, needless) => {
  expect(isNeedless(deed, tool)).toBe(needless)
})
