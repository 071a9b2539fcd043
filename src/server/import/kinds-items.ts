/**
 * How texts arrive that may go out, and what is kept beside them. Nobody here has approved any of
 * them.
 */
import { Type as T } from '@sinclair/typebox'
import { commentRecord } from '#contract/records/growth/comment'
import { engagementRecord, engagementStatuses } from '#contract/records/growth/engagement'
import { itemRecord, itemStatuses } from '#contract/records/growth/item'
import { metricRecord } from '#contract/records/growth/metric'
import { revisionRecord } from '#contract/records/growth/revision'
import { tagLimits } from '#contract/tag-limits'
import { MOST_COMMENTS } from '#domain/growth/drafting/comment'
import { itemWords } from '#domain/growth/drafting/item-words'
import { printsOf } from '#domain/growth/drafting/prints'
import { MOST_REVISIONS } from '#domain/growth/drafting/revision'
import { insertWordsOfItems } from '#store/growth/item-words'
import type { ImportIds } from './ids.ts'
import { importedAs, importer, LONG, writerOf } from './kind.ts'
import type { ExportKind } from './kind-counts.ts'
import type { ExportedRow } from './row.ts'

const MAY_BE_OUT =
  'imported while it was under way: it may have gone out before, so look at the network first'

/** A record that may be deleted, and what it will be if it is restored. */
interface Deletable {
  status: string
  deleted_at: string | null
  deleted_status: string | null
}
type ExportedItem = Omit<ExportedRow<typeof itemRecord>, 'status'> & Deletable
type ExportedEngagement = Omit<ExportedRow<typeof engagementRecord>, 'status'> & Deletable

const deleted = {
  deleted_at: T.Union([T.String({ format: 'date-time' }), T.Null()]),
  deleted_status: T.Union([T.String(), T.Null()]),
}

/** The status of a record that may be deleted: as it would be if it were restored. */
const wholeStatus = ({ status, deleted_status }: Deletable): string => deleted_status ?? status

const faultOfDeletion = ({ status, deleted_at, deleted_status }: Deletable): string | undefined =>
  (status === 'deleted') === (deleted_at !== null) &&
  (deleted_at === null) === (deleted_status === null)
    ? undefined
    : 'its status and deleted_at contradict each other'

/** The source, if it is a record that is taken over. Who wrote it is nobody here. */
const sourceOf = (
  { source_kind, source_id }: { source_kind: string; source_id: string | null },
  ids: ImportIds,
): { source_kind: string; source_id: string | null } => {
  const kinds: Record<string, ExportKind> = {
    batch: 'batch',
    article: 'article',
    rule: 'rule',
    resurfaced: 'item',
    arm: 'experiment',
  }
  const kind = kinds[source_kind]
  return kind && ids.has(kind, source_id)
    ? { source_kind, source_id: ids.ref(kind, source_id) }
    : { source_kind: 'system', source_id: null }
}

const itemStatus = T.Union([...itemStatuses, 'deleted' as const].map((one) => T.Literal(one)))
const KEPT_ITEMS = ['posted', 'rejected']
/** It was sent, or was about to be, and nobody knows what came of it. */
const OUT_ITEMS = ['publishing', 'publish_unconfirmed']

const arrivingItem = (row: Deletable): string => {
  const status = wholeStatus(row)
  return KEPT_ITEMS.includes(status) ? status : 'drafted'
}

/** How many words are written in one transaction, about: some tenths of a second's worth. */
const MOST_WORDS_AT_ONCE = 20_000

interface Worded {
  id: string
  words: string[]
}

function* inGroups(
  rows: readonly (Parameters<typeof itemWords>[0] & { id: string })[],
): Generator<Worded[]> {
  let [items, count]: [Worded[], number] = [[], 0]
  for (const row of rows) {
    const words = itemWords(row)
    if (count > 0 && count + words.length > MOST_WORDS_AT_ONCE) {
      yield items
      ;[items, count] = [[], 0]
    }
    items.push({ id: row.id, words })
    count += words.length
  }
  if (items.length > 0) yield items
}

const item = importedAs(itemRecord, {
  longest: LONG,
  shapes: { status: itemStatus, ...deleted },
  refuses: (row: ExportedItem) =>
    faultOfDeletion(row) ??
    (row.revision > 0 && row.length >= 0 ? undefined : 'its revision or length is below 0') ??
    (row.tags.length <= tagLimits.tags && row.tags.every((tag) => tag.length <= tagLimits.length)
      ? undefined
      : 'it has more tags, or longer ones, than an item can have'),
  arrives: (row: ExportedItem, { ids }) => {
    const [was, status] = [wholeStatus(row), arrivingItem(row)]
    const isPosted = status === 'posted'
    const experiment_id = ids.ref('experiment', row.experiment_id)
    const isTried = experiment_id !== null && row.arm !== null
    return {
      ...row,
      ...sourceOf(row, ids),
      id: ids.of(row.id),
      batch_id: ids.ref('batch', row.batch_id),
      experiment_id: isTried ? experiment_id : null,
      arm: isTried ? row.arm : null,
      resurfaced_from: ids.ref('item', row.resurfaced_from),
      status: row.deleted_at === null ? status : 'deleted',
      deleted_status: row.deleted_at === null ? null : status,
      review: false,
      learnings: ids.within(row.learnings),
      post_at: null,
      on_missed: null,
      proposed_at: status === 'drafted' ? (row.post_at ?? row.proposed_at) : null,
      account_external_id: isPosted ? row.account_external_id : null,
      account_id: null,
      reject_reason: status === 'rejected' ? row.reject_reason : null,
      external_id: isPosted ? row.external_id : null,
      url: isPosted ? row.url : null,
      posted_at: isPosted ? row.posted_at : null,
      last_error: OUT_ITEMS.includes(was) ? MAY_BE_OUT : row.last_error,
      restored_as_of: null,
      decision: null,
      written_by: writerOf(row.written_by),
      prints: printsOf(row.body),
    }
  },
  *follows(rows) {
    const worded = rows.filter(({ status }) => status !== 'deleted')
    for (const items of inGroups(worded)) yield [insertWordsOfItems(items)]
  },
})

const engagementStatus = T.Union(
  [...engagementStatuses, 'deleted' as const].map((one) => T.Literal(one)),
)
const KEPT_ENGAGEMENTS = ['executed', 'rejected', 'failed']
/** Another one may do the same. */
const OVER_ENGAGEMENTS = ['rejected', 'failed']
const OUT_ENGAGEMENTS = ['executing', 'execute_unconfirmed']

/** One without a text that needs one was still being drafted. */
const arrivingEngagement = (row: ExportedEngagement): string => {
  const status = wholeStatus(row)
  if (KEPT_ENGAGEMENTS.includes(status)) return status
  const isWhole = row.body !== null || row.action === 'repost' || row.action === 'like'
  return isWhole ? 'drafted' : 'failed'
}

const engagement = importedAs(engagementRecord, {
  longest: LONG,
  shapes: { status: engagementStatus, ...deleted },
  refuses: (row: ExportedEngagement) =>
    faultOfDeletion(row) ?? (row.revision > 0 ? undefined : 'its revision is not above 0'),
  uniqueBy: (row) =>
    row.deleted_at !== null || OVER_ENGAGEMENTS.includes(arrivingEngagement(row))
      ? []
      : [`${row.network} ${row.post_id} ${row.action}`],
  arrives: (row: ExportedEngagement, { ids }) => {
    const [was, status] = [wholeStatus(row), arrivingEngagement(row)]
    const isExecuted = status === 'executed'
    return {
      ...row,
      ...sourceOf(row, ids),
      id: ids.of(row.id),
      status: row.deleted_at === null ? status : 'deleted',
      deleted_status: row.deleted_at === null ? null : status,
      review: false,
      signal_id: ids.ref('signal', row.signal_id),
      error: status === 'failed' ? (row.error ?? 'cancelled') : row.error,
      account_external_id: isExecuted ? row.account_external_id : null,
      reject_reason: status === 'rejected' ? row.reject_reason : null,
      external_id: isExecuted ? row.external_id : null,
      url: isExecuted ? row.url : null,
      executed_at: isExecuted ? row.executed_at : null,
      last_error: OUT_ENGAGEMENTS.includes(was) ? MAY_BE_OUT : row.last_error,
      restored_as_of: null,
      decision: null,
      written_by: writerOf(row.written_by),
    }
  },
})

const revision = importedAs(revisionRecord, {
  longest: LONG,
  unnamed: true,
  late: true,
  idOf: ({ record_id, number }) => `${record_id} ${number}`,
  belongs: ({ record_id }, ids) => ids.has('item', record_id) || ids.has('engagement', record_id),
  refuses: ({ number }) => (number > 0 ? undefined : 'number is not above 0'),
  bounds: ({ record_id }) => [{ of: `versions of the text ${record_id}`, most: MOST_REVISIONS }],
  arrives: (row, { ids }) => ({
    ...row,
    record_id: ids.of(row.record_id),
    written_by: writerOf(row.written_by),
  }),
  key: ['record_id', 'number'],
})

const comment = importedAs(commentRecord, {
  unnamed: true,
  belongs: ({ item_id }, ids) => ids.has('item', item_id),
  bounds: ({ item_id }) => [{ of: `comments on the item ${item_id}`, most: MOST_COMMENTS }],
  arrives: (row, { ids }) => ({
    ...row,
    id: ids.of(row.id),
    item_id: ids.of(row.item_id),
    written_by: importer,
  }),
  key: ['id'],
})

const metric = importedAs(metricRecord, {
  unnamed: true,
  late: true,
  belongs: ({ item_id }, ids) => ids.has('item', item_id),
  arrives: (row, { ids }) => ({ ...row, id: ids.of(row.id), item_id: ids.of(row.item_id) }),
  // Two readings of one moment are one.
  key: ['id'],
})

export const itemKinds = { item, revision, comment, metric, engagement }
