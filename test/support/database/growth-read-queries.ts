/**
 * Every reading query of the store of growth, with arguments that find the rows of
 * test/support/database/rows.ts.
 */
import type { Query } from '#store/engine/db'
import { articleById, listArticles } from '#store/growth/articles'
import { takenPosts, unnamedAnswers, unnamedAttempts } from '#store/growth/attempts'
import { batchById, listBatches } from '#store/growth/batches'
import { briefRecord } from '#store/growth/brief'
import { calendarOf } from '#store/growth/calendar'
import {
  choicesBut,
  connectionById,
  connectionOverview,
  defaultConnection,
  listConnections,
} from '#store/growth/connections'
import { engagementById, listEngagements } from '#store/growth/engagements'
import { experimentById, listExperiments } from '#store/growth/experiments'
import { growthAuditById, listGrowthAudits } from '#store/growth/growth-audits'
import { growthChannels } from '#store/growth/growth-channels'
import { hookResults, hookUsage } from '#store/growth/hooks'
import type { ItemOrder } from '#store/growth/item-filter'
import { findItems } from '#store/growth/item-lists'
import { allShelves, type SoughtWords } from '#store/growth/item-search'
import { itemById, itemsOfBatch, listItems, recentItems } from '#store/growth/items'
import { activeLearnings, learningById, listLearnings } from '#store/growth/learnings'
import { allProducts, listProducts, productById } from '#store/growth/products'
import { readProfile } from '#store/growth/profiles'
import { listReports, reportById } from '#store/growth/reports'
import { listRuleRuns } from '#store/growth/rule-runs'
import { listRules, ruleById } from '#store/growth/rules'
import { listSignals, signalById } from '#store/growth/signals'
import { listTargets, targetById } from '#store/growth/targets'
import { END, ever, page, paged } from './pages.ts'
import type { Rows } from './rows.ts'

/** Sorts after every time, in microseconds. */
const FAR = Date.UTC(9999, 0) * 1_000
const itemLists = (['created', 'state'] satisfies ItemOrder[]).map((order) => ({
  order,
  statuses: ['publish_unconfirmed'] as const,
  from: new Date(0),
}))

/** An item with one word that is rare on all shelves, and one that is common on all. */
const searched = (word: string): SoughtWords[] =>
  [true, false].map((isRare) =>
    Object.fromEntries(allShelves.map((shelf) => [shelf, { asked: [word], isRare }])),
  )

/** By module and name; several if arguments change the statement. */
export const growthReadQueries: Record<string, (rows: Rows) => Query[]> = {
  'articles.articleById': ({ article }) => [articleById(article.id)],
  'articles.listArticles': () =>
    paged(listArticles, { status: 'ready', from: new Date(0), to: new Date(), after: END }),
  'attempts.unnamedAttempts': ({ connection }) => [unnamedAttempts(connection.id)],
  'attempts.takenPosts': ({ connection, attempt }) => [
    takenPosts({
      sendable: 'post',
      connectionId: connection.id,
      externalIds: [attempt.external_id],
    }),
    takenPosts({
      sendable: 'engagement',
      connectionId: connection.id,
      externalIds: [attempt.external_id],
    }),
  ],
  'batches.batchById': ({ batch }) => [batchById(batch.id)],
  'batches.listBatches': () =>
    paged(listBatches, { status: 'ready', from: new Date(0), to: new Date(), after: END }),
  'brief.briefRecord': () => [briefRecord(), briefRecord({ most: 1 })],
  'calendar.calendarOf': () => [calendarOf()],
  'connections.choicesBut': () => [choicesBut(null), choicesBut(END)],
  'connections.connectionById': ({ connection }) => [connectionById(connection.id)],
  'connections.connectionOverview': () => [connectionOverview],
  'connections.defaultConnection': () => [defaultConnection],
  'connections.listConnections': () => paged(listConnections),
  'attempts.unnamedAnswers': ({ connection, engagement }) => [
    unnamedAnswers({
      connectionId: connection.id,
      network: engagement.network,
      postId: engagement.post_id,
      action: 'reply',
    }),
  ],
  'engagements.engagementById': ({ engagement }) => [engagementById(engagement.id)],
  'engagements.listEngagements': () =>
    paged(
      listEngagements,
      { statuses: ['drafted', 'approved'], action: 'reply', from: new Date(0), to: new Date() },
      { statuses: ['drafted'], after: END },
    ),
  'experiments.experimentById': ({ experiment }) => [experimentById(experiment.id)],
  'experiments.listExperiments': () =>
    paged(listExperiments, { status: 'running' }, { status: 'running', after: END }),
  'growth-channels.growthChannels': () => [growthChannels],
  'growth-audits.growthAuditById': ({ growth_audit }) => [growthAuditById(growth_audit.id)],
  'growth-audits.listGrowthAudits': () => [
    listGrowthAudits(page),
    listGrowthAudits({ ...page, status: 'failed', from: new Date(0), to: new Date(), after: END }),
  ],
  'hooks.hookUsage': () => [hookUsage],
  'hooks.hookResults': () => [hookResults],
  'items.itemById': ({ item }) => [itemById(item.id)],
  'items.itemsOfBatch': ({ batch }) => [itemsOfBatch(batch.id)],
  'items.listItems': () =>
    paged(
      listItems,
      { status: 'publish_unconfirmed' },
      { status: 'publish_unconfirmed', after: END },
    ),
  'item-lists.findItems': ({ item_word }) => [
    ...itemLists.flatMap((filter) => [
      findItems(filter, page),
      findItems(filter, { ...page, after: { id: END, at: FAR } }),
    ]),
    ...searched(item_word.word).map((words) =>
      findItems({ ...itemLists[1]!, statuses: undefined, words }, page),
    ),
    findItems({ order: 'created', words: searched(item_word.word)[0]! }, page),
  ],
  'items.recentItems': () => [recentItems(10)],
  'learnings.activeLearnings': () => [activeLearnings(10)],
  'learnings.learningById': ({ learning }) => [learningById(learning.id)],
  'learnings.listLearnings': () =>
    paged(
      listLearnings,
      { status: 'active', kind: 'worked' },
      { status: 'active', kind: 'worked', after: END },
    ),
  'products.allProducts': () => [allProducts],
  'products.productById': ({ product }) => [productById(product.id)],
  'products.listProducts': () =>
    paged(listProducts, { status: 'active' }, { status: 'active', after: END }),
  'profiles.readProfile': () => [readProfile],
  'reports.reportById': ({ report }) => [reportById(report.id)],
  'reports.listReports': () =>
    paged(listReports, { status: 'ready', from: new Date(0), to: new Date(), after: END }),
  'rule-runs.listRuleRuns': ({ rule }) =>
    paged(listRuleRuns, { ruleId: rule.id }, { ruleId: rule.id, after: END }),
  'rules.listRules': ({ rule }) =>
    paged(listRules, { ...ever, status: 'paused', trigger: rule.trigger.kind as never }),
  'rules.ruleById': ({ rule }) => [ruleById(rule.id)],
  'signals.listSignals': ({ signal }) => [
    listSignals(page),
    listSignals({ ...page, status: 'open' }),
    listSignals({ ...page, after: { score: 100, id: END } }),
    listSignals({ ...page, ...ever, target: signal.target_id }),
  ],
  'signals.signalById': ({ signal }) => [signalById(signal.id)],
  'targets.targetById': ({ target }) => [targetById(target.id)],
  'targets.listTargets': () =>
    paged(listTargets, { status: 'active' }, { status: 'active', after: END }),
}
