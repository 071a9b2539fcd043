/** Drafts that wait for a person. */
import type { Task } from '../task.ts'

const drafts = [
  { body: 'Every delay starts at the dock: we measured 40 of them.' },
  { body: 'Our price rises on 31 November.' },
  { body: 'Two thirds of late parcels were promised too early.' },
]

const QUEUE: Task['script'][number] = [['growth_list_queue', { status: 'drafted' }]]

export const review: Task[] = [
  {
    name: 'queue-read',
    given: { items: drafts },
    ask: 'Which drafts wait for review? Only tell me.',
    uses: ['growth_list_queue', 'growth_overview', 'growth_get_brief'],
    script: [QUEUE],
    mistake: [QUEUE, [['growth_reject_item', { id: '<item: price>', reason: 'No such day' }]]],
  },
  {
    name: 'reject-one',
    given: { items: drafts },
    ask: 'Reject the draft about the price. The reason: that day does not exist.',
    changes: ['item'],
    rows: [
      ['item', "status = 'rejected' and body ~ 'price' and reject_reason ~* 'exist'"],
      ['item', "status = 'drafted'", 2],
    ],
    script: [
      QUEUE,
      [['growth_reject_item', { id: '<item: price>', reason: 'That day does not exist.' }]],
    ],
    mistake: [
      QUEUE,
      [['growth_reject_item', { id: '<item: dock>', reason: 'That day does not exist.' }]],
    ],
  },
  {
    name: 'reject-two-of-four',
    given: {
      items: [
        ...drafts,
        { body: 'Acme is slower than we are.' },
        { body: 'Leave Acme, come to us.' },
      ],
    },
    ask: 'We never name Acme. Reject each draft that does.',
    changes: ['item'],
    rows: [
      ['item', "status = 'rejected' and body ~ 'Acme'", 2],
      ['item', "status = 'drafted'", 3],
    ],
    script: [
      QUEUE,
      [
        ['growth_reject_item', { id: '<item: Acme is>', reason: 'Names Acme' }],
        ['growth_reject_item', { id: '<item: Leave Acme>', reason: 'Names Acme' }],
      ],
    ],
    mistake: [QUEUE, [['growth_reject_item', { id: '<item: Acme is>', reason: 'Names Acme' }]]],
  },
  {
    name: 'approve-one',
    given: { items: drafts },
    ask: 'Approve the draft about the dock.',
    changes: ['item'],
    asks: ['growth_approve_item'],
    rows: [
      ['item', "status = 'approved' and body ~ 'dock'"],
      ['item', "status = 'drafted'", 2],
    ],
    script: [QUEUE, [['growth_approve_item', { id: '<item: dock>' }]]],
    mistake: [QUEUE, [['growth_approve_item', { id: '<item: thirds>' }]]],
  },
  {
    name: 'approve-edited',
    given: { items: drafts },
    ask: 'Approve the draft about the price, but with this text: "Our price rises on 30 November."',
    changes: ['item'],
    asks: ['growth_approve_item'],
    rows: [['item', "status = 'approved' and body = 'Our price rises on 30 November.'"]],
    script: [
      QUEUE,
      [
        [
          'growth_approve_item',
          { id: '<item: price>', edited_body: 'Our price rises on 30 November.' },
        ],
      ],
    ],
    mistake: [QUEUE, [['growth_approve_item', { id: '<item: price>' }]]],
  },
  {
    name: 'approve-two',
    given: { items: drafts },
    ask: 'The drafts about the dock and about late parcels are fine. Approve both.',
    changes: ['item'],
    asks: ['growth_approve_item', 'growth_approve_item'],
    rows: [
      ['item', "status = 'approved' and body ~ 'dock|thirds'", 2],
      ['item', "status = 'drafted'"],
    ],
    script: [
      QUEUE,
      [
        ['growth_approve_item', { id: '<item: dock>' }],
        ['growth_approve_item', { id: '<item: thirds>' }],
      ],
    ],
    mistake: [
      QUEUE,
      ['dock', 'thirds', 'price'].map((word) => ['growth_approve_item', { id: `<item: ${word}>` }]),
    ],
  },
  {
    name: 'refused-is-final',
    given: { items: drafts },
    ask: 'Try to get the draft about the dock approved, please.',
    asks: ['growth_approve_item'],
    decide: 'reject',
    rows: [['item', "status = 'drafted'", 3]],
    uses: ['growth_list_queue', 'growth_overview', 'growth_get_brief'],
    script: [QUEUE, [['growth_approve_item', { id: '<item: dock>' }]]],
    mistake: [
      QUEUE,
      [['growth_approve_item', { id: '<item: dock>' }]],
      [['growth_approve_item', { id: '<item: thirds>' }]],
    ],
  },
  {
    name: 'the-second-of-them',
    given: { items: drafts.slice(0, 2) },
    before: [{ ask: 'List the drafts that wait.', script: [QUEUE] }],
    ask: 'Reject the one about the price, please: it names no day that exists.',
    changes: ['item'],
    rows: [['item', "status = 'rejected' and body ~ 'price'"]],
    script: [QUEUE, [['growth_reject_item', { id: '<item: price>', reason: 'No such day' }]]],
    mistake: [QUEUE, [['growth_reject_item', { id: '<item: dock>', reason: 'No such day' }]]],
  },
  {
    name: 'viewer-cannot',
    given: { items: drafts },
    role: 'viewer',
    ask: 'Look at the queue, and approve what is good.',
    uses: ['growth_list_queue', 'growth_overview', 'growth_get_brief'],
    script: [QUEUE],
    mistake: [QUEUE, [['growth_approve_item', { id: '<item: dock>' }]]],
  },
]
