/** Rows of posted items and their metrics, written without a network. */
import { newId } from '#kernel/ids'
import type { TestApp } from '../app.ts'
import { insertItem } from '../database/writes.ts'

type Place = Pick<TestApp, 'owner'>

/** `at`: when it was counted, by default now. */
export interface Count {
  at?: Date | string
  /** Null: the network counts neither these nor clicks. */
  impressions: number | null
  likes: number
  clicks?: number
}

export const insertCounts = async (
  { owner }: Place,
  { tenantId, itemId }: { tenantId: string; itemId: string },
  counts: Count[],
): Promise<void> => {
  for (const {
    at = new Date(),
    impressions,
    likes,
    clicks = impressions === null ? null : 0,
  } of counts)
    await owner`insert into item_metric (id, tenant_id, item_id, at, impressions, likes, replies,
      reposts, quotes, clicks)
      values (${newId()}, ${tenantId}, ${itemId}, ${at}, ${impressions}, ${likes}, 0, 0, 0,
        ${clicks})`
}

interface Posted {
  body?: string
  postedAt?: Date | string
  hook?: string
  /** The network's id of the account that posted it. */
  account?: string
  /** The experiment and arm it belongs to. */
  trial?: { id: string; arm: string }
  counts?: Count[]
}

/** Gives its id, which is also its id on the network. */
export const insertPosted = async (
  place: Place,
  tenantId: string,
  { body, hook, account, postedAt = new Date(), trial, counts = [] }: Posted,
): Promise<string> => {
  const id = newId()
  await insertItem(place, tenantId, {
    id,
    external_id: id,
    status: 'posted',
    body: body ?? `Post ${id}`,
    ...(hook && { hook }),
    ...(account && { account_external_id: account }),
    experiment_id: trial?.id ?? null,
    arm: trial?.arm ?? null,
    posted_at: postedAt,
    created_at: postedAt,
    updated_at: postedAt,
  })
  await insertCounts(place, { tenantId, itemId: id }, counts)
  return id
}
