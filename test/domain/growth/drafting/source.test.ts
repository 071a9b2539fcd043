import { expect, test } from 'bun:test'
import {
  byArticle,
  byAuthor,
  byBatch,
  byItem,
  byRequest,
  type DraftSource,
} from '#domain/growth/drafting/source'

const batch = { id: 'batch-1', rule_id: null }

test.each<[string, DraftSource, DraftSource['source_kind'], string | null]>([
  ['a post of a batch', byBatch(batch, null), 'batch', 'batch-1'],
  ['one of a rule', byBatch({ ...batch, rule_id: 'rule-1' }, null), 'rule', 'rule-1'],
  ['one of an arm', byBatch({ ...batch, rule_id: 'rule-1' }, 'trial-1'), 'arm', 'trial-1'],
  ['an article', byArticle({ id: 'article-1', rule_id: null }), 'article', 'article-1'],
  ['one of a rule', byArticle({ id: 'article-1', rule_id: 'rule-1' }), 'rule', 'rule-1'],
  ['a copy', byItem('item-1'), 'resurfaced', 'item-1'],
  ["a person's own", byAuthor({ kind: 'person', id: 'ida' }), 'person', 'ida'],
  ["an agent's own", byAuthor({ kind: 'agent', id: 'job-1' }), 'agent', 'job-1'],
  ['what the server makes', byAuthor({ kind: 'system', id: 'operator' }), 'system', null],
  ['what a rule asks for', byRequest({ rule: 'rule-1' }), 'rule', 'rule-1'],
  ['what a key asks for', byRequest({ by: { kind: 'key', id: 'key-1' } }), 'key', 'key-1'],
])('%s has its source', (_, source, source_kind, source_id) => {
  expect(source).toEqual({ source_kind, source_id })
})
