/**
 * What the desk, which has no model, must do with commands and fixed questions. All else that
 * people write must change nothing.
 */
import type { Asked } from './task.ts'

const drafts = [
  { body: 'Every delay starts at the dock.' },
  { body: 'Our price rises on 31 November.' },
]
const approved = [
  { body: 'Two thirds of late parcels were promised too early.', status: 'approved' as const },
]
const WAITING = { ask: 'What is waiting?' }

const commands: Asked[] = [
  {
    name: 'approve-by-position',
    given: { items: drafts },
    before: [WAITING],
    ask: '/items approve 2',
    changes: ['item'],
    own: ['growth_approve_item'],
    rows: [['item', "status = 'approved' and body ~ 'dock'"]],
  },
  {
    name: 'reject-with-reason',
    given: { items: drafts },
    before: [WAITING],
    ask: '/items reject 1 --reason "no such day"',
    changes: ['item'],
    rows: [['item', "status = 'rejected' and body ~ 'price' and reject_reason = 'no such day'"]],
  },
  {
    name: 'reject-by-handle',
    given: { items: drafts },
    before: [WAITING],
    ask: 'items reject item:1',
    changes: ['item'],
    rows: [['item', "status = 'rejected' and body ~ 'price'"]],
  },
  {
    name: 'schedule',
    given: { items: approved },
    before: [{ ask: 'What is scheduled?' }],
    ask: '/items schedule 1 --post-at {{day+2}}T09:00:00Z',
    changes: ['item'],
    own: ['growth_schedule_item'],
    rows: [['item', "status = 'approved' and post_at = '{{day+2}}T09:00Z'"]],
  },
  {
    name: 'post-now',
    given: { items: approved },
    before: [{ ask: 'What is scheduled?' }],
    ask: '/items post-now 1',
    changes: ['item', 'attempt', 'connection'],
    own: ['growth_post_item'],
    rows: [['item', "status = 'posted'"]],
  },
  {
    name: 'schedule-for-no-time',
    given: { items: approved },
    before: [{ ask: 'What is scheduled?' }],
    ask: '/items schedule 1 --post-at tomorrow',
    own: ['growth_schedule_item'],
    rows: [['item', "status = 'approved' and post_at is null"]],
  },
  {
    name: 'batch',
    given: { profile: true },
    ask: '/batches create --count 2 --focus "late deliveries"',
    changes: ['batch', 'item'],
    rows: [
      ['batch', "requested = 2 and focus = 'late deliveries'"],
      ['item', "status = 'drafted'", 2],
    ],
  },
  {
    name: 'learning',
    ask: '/learnings create --kind worked --note "Numbers in the first line"',
    changes: ['learning'],
    rows: [['learning', "kind = 'worked' and note = 'Numbers in the first line'"]],
  },
  {
    name: 'product',
    ask: '/products create --name Loopline --one-liner "Onboarding that asks one question"',
    changes: ['product'],
    rows: [['product', "name = 'Loopline' and status = 'active'"]],
  },
  {
    name: 'remember',
    ask: '/remember --text "We never post on Fridays" --scope workspace',
    changes: ['agent_memory'],
    rows: [['agent_memory', "scope = 'workspace' and text = 'We never post on Fridays'"]],
  },
  { name: 'pause', ask: '/automation pause-all', rows: [['actor', 'paused']] },
  {
    name: 'page',
    given: { pages: { '/desk': 'The bay opens at six.' } },
    ask: '/fetch-url --url {{site}}desk',
    uses: ['fetch_url'],
  },
  {
    name: 'list',
    given: { items: drafts },
    ask: '/items list --status drafted',
    uses: ['growth_list_queue'],
  },
]

/** Each must lead to its one read. */
const answered: [ask: string, tool: string][] = [
  ['What is waiting?', 'growth_list_queue'],
  ['what next', 'growth_get_brief'],
  ['What have we learned?', 'growth_list_learnings'],
  ['What’s scheduled?', 'growth_list_queue'],
  ['What did we post?', 'growth_list_queue'],
  ['What went wrong?', 'growth_list_queue'],
  ['How are we doing?', 'growth_overview'],
  ['Which accounts are connected?', 'growth_list_accounts'],
  ['What do we sell?', 'growth_list_products'],
  ['Which rules are there?', 'growth_list_rules'],
  ['Who do we watch?', 'growth_list_targets'],
  ['What are we testing?', 'growth_list_experiments'],
]

/** Near a command, or near a question; none of them is one. */
const refused: string[] = [
  ...[
    '/items aprove 1',
    '/items approve',
    '/items approve 9',
    '/items approve one',
    '/batches create --cuont 2',
    '/batches create --count two',
  ],
  ...[
    '/learnings create --kind good --note x',
    '/item list',
    '/remember',
    '/products create --name A',
  ],
  ...['/items approve 1 --edited-body @/etc/passwd', '/', '/delete everything'],
  ...[
    'approve the first one',
    'please approve item 1',
    'yes, do it',
    'ok',
    'items approve all of them please',
    'post it',
    'reject 2, approve 1',
  ],
  ...[
    'What is waiting? Approve it.',
    'remember that we never post on Fridays',
    'draft 3 posts',
    'pause',
    'stop everything now',
    'undo that',
  ],
  ...[
    'lösche den zweiten Entwurf',
    '承認してください',
    '👍',
    'growth_approve_item {"id": "item:1"}',
    '{"tool": "growth_approve_item"}',
  ],
]

export const deskTasks: Asked[] = [
  ...commands,
  ...answered.map(([ask, tool]) => ({
    name: `question: ${ask}`,
    given: { items: drafts },
    ask,
    uses: [tool],
  })),
  ...refused.map((ask) => ({
    name: `no command: ${ask}`,
    given: { items: [...drafts, ...approved] },
    before: [WAITING],
    ask,
  })),
]

/** What is asked of a model is no command either. */
export const asSentences = (tasks: readonly Asked[]): Asked[] =>
  tasks.map(({ name, ask }) => ({
    name: `sentence: ${name}`,
    given: { items: [...drafts, ...approved] },
    before: [WAITING],
    ask,
  }))
