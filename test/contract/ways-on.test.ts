/** Errors name the call to make next: each of these exists, and takes what the error gives it. */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { pathParams } from '#contract/op'
import { engagementStatuses } from '#contract/records/growth/engagement'
import { itemStatuses } from '#contract/records/growth/item'
import { engagementStates } from '#domain/growth/drafting/engagement-states'
import { itemStates } from '#domain/growth/drafting/item-states'
import { byCode } from '#edge/mcp/next-call'
import { drafted } from '#test/domain/growth/engagements'
import { draftedItem } from '#test/domain/records'

const paramsOf = (id: string): string[] =>
  pathParams(operations.find((o) => o.id === id)?.path ?? ':missing')
const booleans = [false, true]
const times = [null, new Date(0)]
const actionsOf = <A extends string>({ actions }: { actions: Record<A, unknown> }): A[] =>
  Object.keys(actions) as A[]

test.each([...itemStatuses])(
  'the way on from an item that is %s is an operation on items',
  (status) => {
    for (const review of booleans)
      for (const post_at of times)
        for (const action of actionsOf(itemStates)) {
          const item = { ...draftedItem, status, review, post_at }
          const { operation, words } = itemStates.wayOn(item, action)
          // Of what may be on the network a person must look first.
          if (action === 'post' && status === 'publish_unconfirmed') continue
          expect([operation, paramsOf(operation!)]).toEqual([
            expect.stringMatching(/^growth\.items\./),
            ['id'],
          ])
          expect(words).not.toBe('')
        }
  },
)

test.each([...engagementStatuses])(
  'the way on from an engagement that is %s is an operation on engagements',
  (status) => {
    for (const review of booleans)
      for (const action of actionsOf(engagementStates)) {
        const { operation, words } = engagementStates.wayOn({ ...drafted, status, review }, action)
        if (action === 'execute' && status === 'execute_unconfirmed') continue
        expect([operation, paramsOf(operation!)]).toEqual([
          expect.stringMatching(/^growth\.engagements\./),
          ['id'],
        ])
        expect(words).not.toBe('')
      }
  },
)

test('what shows the end of a send reads one record', () => {
  const looks = [itemStates, engagementStates].flatMap(({ reads, inDoubt }) => [
    reads,
    inDoubt.operation!,
  ])
  expect(looks.map(paramsOf)).toEqual([['id'], ['id'], ['id'], ['id']])
})

test('what an error leads to that is about no record takes no id', () => {
  for (const id of [...Object.values(byCode), 'growth.signals.list', 'growth.experiments.list'])
    expect(paramsOf(id)).toEqual([])
})

test('every operation that an error names exists, and is named with an id exactly if it takes one', async () => {
  const naming = /(?:nextCall|refuseNaming)\([^)]*?'(growth(?:\.\w+)+)'(,\s*[\w.]+)?,?\s*\)/g
  const found: [string, boolean][] = []
  for (const folder of ['src/domain/growth', 'src/decisions/growth', 'src/ops/growth'])
    for await (const path of new Bun.Glob(`${folder}/**/*.ts`).scan())
      for (const [, id, record] of (await Bun.file(path).text()).matchAll(naming))
        found.push([id!, record !== undefined])
  expect(found.length).toBeGreaterThan(10)
  for (const [id, isOfRecord] of found)
    expect([id, paramsOf(id)]).toEqual([id, isOfRecord ? ['id'] : []])
})
