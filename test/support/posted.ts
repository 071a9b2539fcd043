/** Posts that are out, and what was counted of them, as rows: nothing goes over a network. */
import { newId } from '#kernel/ids'
import type { TestApp } from './app.ts'
import { insertItem } from './writes.ts'

type Place = Pick<TestApp, 'owner'>

/** `at`: when it was counted, now unless told. */
export interface Count {
  at?: Date | string
  impressions: number
  likes: number
  clicks?: number
}

export const insertCounts = async (
  { owner }: Place,
  { tenantId, itemId }: { tenantId: string; itemId: string },
  counts: Count[],
): Promise<void> => {
  for (const { at = new Date(), impressions, likes, clicks = 0 } of counts)
    await owner`insert into item_metric (id, tenant_id, item_id, at, impressions, likes, replies, reposts, quotes, clicks)
      values (${newId()}, ${tenantId}, ${itemId}, ${at}, ${impressions}, ${likes}, 0, 0, 0, ${clicks})`
}

interface Posted {
  body?: string
  postedAt?: Date | string
  /** Of an experiment. */
  trial?: { id: string; arm: string }
  counts?: Count[]
}

/** Gives its id, which is also its name on the network, and its text unless there is one. */
export const insertPosted = async (
  place: Place,
  tenantId: string,
  { body, postedAt = new Date(), trial, counts = [] }: Posted,
): Promise<string> => {
  const id = newId()
  await insertItem(place, tenantId, {
    ...{ id, external_id: id, status: 'posted', body: body ?? `Post ${id}`, experiment_id: trial?.id ?? null, arm: trial?.arm ?? null },
    ...{ posted_at: postedAt, created_at: postedAt, updated_at: postedAt },
  })
  await insertCounts(place, { tenantId, itemId: id }, counts)
  return id
}
