/** Posts that are out, and what was counted of them, as rows: nothing goes over a network. */
import { newId } from '#kernel/ids'
import type { TestApp } from './app.ts'

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
  await place.owner`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories, learnings, length, external_id,
      experiment_id, arm, posted_at, created_at, updated_at)
    values (${id}, ${tenantId}, 'post', 'posted', ${body ?? `Post ${id}`}, 'point', 'none', '', '[]', '[]', 10, ${id},
      ${trial?.id ?? null}, ${trial?.arm ?? null}, ${postedAt}, ${postedAt}, ${postedAt})`
  await insertCounts(place, { tenantId, itemId: id }, counts)
  return id
}
