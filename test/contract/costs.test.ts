/** What operations use of a plan, as the contract declares it. */
import { expect, test } from 'bun:test'
import { keyOperations } from '#contract/index'
import { capKeys, isCostly } from '#contract/limits'
import { readsOnly } from '#contract/op'
import { costly, limitedOnes, metered } from './limited.ts'

test('the operations that the API document calls costly are costly', () => {
  for (const id of ['growth.batches.create', 'growth.articles.create', 'growth.items.postNow'])
    expect(costly.map((o) => o.id)).toContain(id)
  expect(costly.filter(readsOnly)).toEqual([])
  expect(metered.filter(({ cap }) => !cap).map(({ id }) => id)).toEqual([])
})

test('own texts and codes cost nothing', () => {
  expect(limitedOnes.filter((o) => !costly.includes(o)).map(({ cap }) => cap)).toEqual(
    expect.arrayContaining(['create_item']),
  )
  expect(new Set(costly.map(({ cap }) => cap))).toEqual(new Set(capKeys.filter(isCostly)))
})

test('an operation declares what it uses of the plan, instead of listing the errors', () => {
  // Only a batch drafted for an experiment needs the feature.
  const sometimes = ['growth.batches.create']
  const listed = keyOperations.filter(
    ({ errors }) =>
      errors.includes('plan_quota_exceeded') || errors.includes('plan_feature_disabled'),
  )
  const silent = listed.filter((o) =>
    o.errors.includes('plan_feature_disabled') ? !o.feature : !o.quota,
  )
  expect(silent.map(({ id }) => id).filter((id) => !sometimes.includes(id))).toEqual([])
})
