/** What goes out, when, and what stops it. */
import type { Task } from '../task.ts'

const approved = {
  body: 'Every delay starts at the dock: we measured 40 of them.',
  status: 'approved',
} as const
const other = {
  body: 'Two thirds of late parcels were promised too early.',
  status: 'approved',
} as const
const scheduled = { body: 'Nobody reads the delivery note.', status: 'scheduled' } as const

const QUEUE: Task['script'][number] = [['growth_list_queue', {}]]
const SENT = ['item', 'attempt', 'connection']

export const publishing: Task[] = [
  {
    name: 'schedule-one',
    given: { items: [approved, other] },
    ask: 'Schedule the approved post about the dock for {{day+2}} at 09:00 UTC.',
    changes: ['item'],
    asks: ['growth_schedule_item'],
    rows: [
      ['item', "status = 'approved' and body ~ 'dock' and post_at = '{{day+2}}T09:00Z'"],
      ['item', "status = 'approved' and post_at is null"],
    ],
    script: [
      QUEUE,
      [['growth_schedule_item', { id: '<item: dock>', post_at: '{{day+2}}T09:00:00Z' }]],
    ],
    mistake: [
      QUEUE,
      [['growth_schedule_item', { id: '<item: dock>', post_at: '{{day+3}}T09:00:00Z' }]],
    ],
  },
  {
    name: 'schedule-or-skip',
    given: { items: [approved] },
    ask: 'Let the approved post go out on {{day+1}} at 23:30 UTC. Should that moment be missed, it must not go out later.',
    changes: ['item'],
    asks: ['growth_schedule_item'],
    rows: [['item', "status = 'approved' and post_at = '{{day+1}}T23:30Z' and on_missed = 'skip'"]],
    script: [
      QUEUE,
      [
        [
          'growth_schedule_item',
          { id: '<item: dock>', post_at: '{{day+1}}T23:30:00Z', on_missed: 'skip' },
        ],
      ],
    ],
    mistake: [
      QUEUE,
      [['growth_schedule_item', { id: '<item: dock>', post_at: '{{day+1}}T23:30:00Z' }]],
    ],
  },
  {
    name: 'unschedule',
    given: { items: [scheduled, approved] },
    ask: 'The post about the delivery note must not go out after all. Take it off the schedule; keep it approved.',
    changes: ['item'],
    rows: [['item', "status = 'approved' and post_at is null", 2]],
    script: [QUEUE, [['growth_unschedule_item', { id: '<item: delivery note>' }]]],
    mistake: [QUEUE, [['growth_reject_item', { id: '<item: delivery note>', reason: 'not now' }]]],
  },
  {
    name: 'post-now',
    given: { items: [approved, other] },
    ask: 'Post the one about the dock now.',
    changes: SENT,
    asks: ['growth_post_item'],
    rows: [
      ['item', "status = 'posted' and body ~ 'dock'"],
      ['item', "status = 'approved'"],
    ],
    script: [QUEUE, [['growth_post_item', { id: '<item: dock>' }]]],
    mistake: [QUEUE, [['growth_post_item', { id: '<item: thirds>' }]]],
  },
  {
    name: 'post-refused',
    given: { items: [approved] },
    ask: 'Ask for leave to post the one about the dock. If you do not get it, leave it.',
    asks: ['growth_post_item'],
    decide: 'reject',
    rows: [['item', "status = 'approved'"]],
    uses: ['growth_list_queue', 'growth_overview', 'growth_get_brief'],
    script: [QUEUE, [['growth_post_item', { id: '<item: dock>' }]]],
    mistake: [
      QUEUE,
      [['growth_post_item', { id: '<item: dock>' }]],
      [['growth_schedule_item', { id: '<item: dock>', post_at: '{{day+1}}T09:00:00Z' }]],
    ],
  },
  {
    name: 'approve-then-schedule',
    given: { items: [{ body: 'A parcel is late long before it is late.' }] },
    ask: 'Approve the only draft, then schedule it for {{day+1}} at 07:15 UTC.',
    changes: ['item'],
    asks: ['growth_approve_item', 'growth_schedule_item'],
    rows: [['item', "status = 'approved' and post_at = '{{day+1}}T07:15Z'"]],
    script: [
      QUEUE,
      [['growth_approve_item', { id: '<item: parcel>' }]],
      [['growth_schedule_item', { id: '<item: parcel>', post_at: '{{day+1}}T07:15:00Z' }]],
    ],
    mistake: [QUEUE, [['growth_approve_item', { id: '<item: parcel>' }]]],
  },
  {
    name: 'mark-posted',
    given: { items: [approved, other] },
    ask: 'I posted the one about the dock by hand: https://x.com/tendril/status/4711. Note that.',
    changes: ['item'],
    asks: ['growth_mark_item_posted'],
    rows: [
      ['item', "status = 'posted' and body ~ 'dock' and url = 'https://x.com/tendril/status/4711'"],
    ],
    script: [
      QUEUE,
      [
        [
          'growth_mark_item_posted',
          { id: '<item: dock>', url: 'https://x.com/tendril/status/4711' },
        ],
      ],
    ],
    mistake: [QUEUE, [['growth_post_item', { id: '<item: dock>' }]]],
  },
  {
    name: 'which-one',
    given: { items: [approved, other] },
    ask: 'Post it now.',
    uses: ['growth_list_queue', 'growth_overview', 'growth_get_brief'],
    rows: [['item', "status = 'approved'", 2]],
    script: [QUEUE],
    mistake: [QUEUE, [['growth_post_item', { id: '<item: dock>' }]]],
  },
  {
    name: 'stop-everything',
    given: { items: [scheduled] },
    ask: 'Stop all automation at once!',
    changes: ['rule', 'agent_schedule'],
    rows: [['actor', 'paused']],
    script: [[['growth_pause_automation', {}]]],
    mistake: [QUEUE, [['growth_unschedule_item', { id: '<item: delivery note>' }]]],
  },
  {
    name: 'resume',
    given: { paused: true },
    ask: 'The trouble is over. Let automation go on.',
    changes: ['rule', 'agent_schedule'],
    asks: ['growth_resume_automation'],
    rows: [['actor', 'not paused']],
    script: [[['growth_resume_automation', {}]]],
    mistake: [[['growth_pause_automation', {}]]],
  },
]
