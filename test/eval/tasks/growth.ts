/** Drafting, and what drafts are made from. */
import type { Task } from '../task.ts'

const learnings = [
  { kind: 'worked', note: 'Numbers in the first line' },
  { kind: 'flopped', note: 'Questions at the end' },
  { kind: 'worked', note: 'Stories from the dock' },
] as const
const products = [
  { name: 'Loopline', one_liner: 'Onboarding that asks one question' },
  { name: 'Dockwatch', one_liner: 'Tells you which parcel will be late' },
]

const LEARNINGS: Task['script'][number] = [['growth_list_learnings', {}]]
const PRODUCTS: Task['script'][number] = [['growth_list_products', {}]]
const OVERVIEW: Task['script'][number] = [['growth_overview', {}]]

export const growth: Task[] = [
  {
    name: 'draft-two',
    given: { profile: true },
    ask: 'Draft two posts about onboarding. Approve none of them.',
    changes: ['batch', 'item'],
    rows: [
      ['batch', "requested = 2 and focus ~* 'onboarding'"],
      ['item', "status = 'drafted'", 2],
    ],
    script: [[['growth_create_batch', { count: 2, focus: 'onboarding' }]]],
    mistake: [[['growth_create_batch', { count: 4, focus: 'onboarding' }]]],
  },
  {
    name: 'draft-and-drop',
    given: { profile: true },
    ask: 'Draft one post, then reject it: I only want to see how that works.',
    changes: ['batch', 'item'],
    rows: [['item', "status = 'rejected'"]],
    script: [
      [['growth_create_batch', { count: 1 }]],
      [['growth_reject_item', { id: 'item:1', reason: 'Only to see how it works' }]],
    ],
    mistake: [[['growth_create_batch', { count: 1 }]]],
  },
  {
    name: 'article',
    given: { profile: true },
    ask: 'Write a short article about why product tours fail.',
    changes: ['article', 'item'],
    rows: [['article', "length = 'short' and topic ~* 'tours' and status = 'ready'"]],
    script: [[['growth_create_article', { topic: 'Why product tours fail', length: 'short' }]]],
    mistake: [[['growth_create_article', { topic: 'Why product tours fail', length: 'long' }]]],
  },
  {
    name: 'experiment',
    ask: 'Start an experiment named "Numbers first": we think that posts which begin with a number get more replies. Measure replies.',
    changes: ['experiment'],
    rows: [['experiment', "name = 'Numbers first' and metric = 'replies' and status = 'running'"]],
    script: [
      [
        [
          'growth_create_experiment',
          {
            name: 'Numbers first',
            hypothesis: 'Posts that begin with a number get more replies',
            metric: 'replies',
          },
        ],
      ],
    ],
    mistake: [
      [
        [
          'growth_create_experiment',
          {
            name: 'Numbers first',
            hypothesis: 'Posts that begin with a number get more likes',
            metric: 'likes',
          },
        ],
      ],
    ],
  },
  {
    name: 'end-experiment',
    given: {
      experiments: [
        { name: 'Numbers first', hypothesis: 'Numbers get replies' },
        { name: 'Short posts', hypothesis: 'Short ones get likes' },
      ],
    },
    ask: 'End the experiment about short posts: the result is "too few posts to tell".',
    changes: ['experiment'],
    asks: ['growth_conclude_experiment'],
    rows: [
      ['experiment', "name = 'Short posts' and status = 'concluded' and result ~* 'too few'"],
      ['experiment', "status = 'running'"],
    ],
    script: [
      [['growth_list_experiments', {}]],
      [
        [
          'growth_conclude_experiment',
          { id: '<experiment: Short posts>', result: 'Too few posts to tell' },
        ],
      ],
    ],
    mistake: [
      [['growth_list_experiments', {}]],
      [
        [
          'growth_conclude_experiment',
          { id: '<experiment: Numbers first>', result: 'Too few posts to tell' },
        ],
      ],
    ],
  },
  {
    name: 'learning-worked',
    ask: 'Note as a learning: posts with a customer quote worked.',
    changes: ['learning'],
    rows: [['learning', "kind = 'worked' and note ~* 'quote' and status = 'active'"]],
    script: [[['growth_add_learning', { kind: 'worked', note: 'Posts with a customer quote' }]]],
    mistake: [[['growth_add_learning', { kind: 'flopped', note: 'Posts with a customer quote' }]]],
  },
  {
    name: 'learning-flopped',
    ask: 'Posts with three hashtags flopped. Keep that in mind for the drafts.',
    changes: ['learning'],
    rows: [['learning', "kind = 'flopped' and note ~* 'hashtag' and status = 'active'"]],
    script: [[['growth_add_learning', { kind: 'flopped', note: 'Three hashtags' }]]],
    mistake: [[['remember', { text: 'Posts with three hashtags flopped', scope: 'workspace' }]]],
  },
  {
    name: 'retire-learning',
    given: { learnings: [...learnings] },
    ask: 'The learning about questions no longer holds. Retire it.',
    changes: ['learning'],
    rows: [
      ['learning', "status = 'retired' and note ~ 'Questions'"],
      ['learning', "status = 'active'", 2],
    ],
    script: [LEARNINGS, [['growth_retire_learning', { id: '<learning: Questions>' }]]],
    mistake: [LEARNINGS, [['growth_retire_learning', { id: '<learning: Numbers>' }]]],
  },
  {
    name: 'add-product',
    given: { products },
    ask: 'We also offer "Berthcam", a camera that counts parcels. It is at https://berthcam.example.com/.',
    changes: ['product'],
    rows: [
      [
        'product',
        "name = 'Berthcam' and one_liner ~* 'camera' and url ~ '^https://berthcam.example.com'",
      ],
    ],
    script: [
      [
        [
          'growth_add_product',
          {
            name: 'Berthcam',
            one_liner: 'A camera that counts parcels',
            url: 'https://berthcam.example.com/',
          },
        ],
      ],
    ],
    mistake: [
      [['growth_add_product', { name: 'Berthcam', one_liner: 'A camera that counts parcels' }]],
    ],
  },
  {
    name: 'archive-product',
    given: { products },
    ask: 'We no longer sell Dockwatch. Archive it.',
    changes: ['product'],
    rows: [
      ['product', "name = 'Dockwatch' and status = 'archived'"],
      ['product', "name = 'Loopline' and status = 'active'"],
    ],
    script: [
      PRODUCTS,
      [['growth_update_product', { id: '<product: Dockwatch>', status: 'archived' }]],
    ],
    mistake: [
      PRODUCTS,
      [['growth_update_product', { id: '<product: Loopline>', status: 'archived' }]],
    ],
  },
  {
    name: 'profile-audience',
    given: { profile: true },
    ask: 'Our audience is now "heads of logistics at shops". Change the profile, and nothing else in it.',
    changes: ['profile'],
    asks: ['growth_update_profile'],
    rows: [['profile', "data->>'audience' ~* 'logistics' and data->>'goal' ~ 'Loopline'"]],
    script: [[['growth_update_profile', { audience: 'Heads of logistics at shops' }]]],
    mistake: [
      [
        [
          'growth_update_profile',
          { audience: 'Heads of logistics at shops', goal: 'Reach heads of logistics' },
        ],
      ],
    ],
  },
  {
    name: 'channel-days',
    ask: 'Articles go out on Fridays at 10:00 only from now on.',
    changes: ['growth_channel'],
    asks: ['growth_update_channel'],
    rows: [
      [
        'growth_channel',
        `name = 'articles' and cadence @> '{"days": ["fri"], "times": ["10:00"]}' and not cadence->'days' ? 'tue'`,
      ],
    ],
    script: [
      OVERVIEW,
      [
        [
          'growth_update_channel',
          { id: '<channel: articles>', cadence: { days: ['fri'], times: ['10:00'] } },
        ],
      ],
    ],
    mistake: [
      OVERVIEW,
      [
        [
          'growth_update_channel',
          { id: '<channel: posts>', cadence: { days: ['fri'], times: ['10:00'] } },
        ],
      ],
    ],
  },
  {
    name: 'new-rule',
    ask: 'From now on, when a post has gone out, draft two new ones by yourself. Name that rule "Refill".',
    changes: ['rule'],
    asks: ['growth_create_rule'],
    rows: [
      [
        'rule',
        "name = 'Refill' and trigger->>'kind' = 'item_posted' and action->>'kind' = 'draft_batch' and (action->>'count')::int = 2",
      ],
    ],
    script: [
      [
        [
          'growth_create_rule',
          {
            name: 'Refill',
            trigger: { kind: 'item_posted' },
            action: { kind: 'draft_batch', count: 2 },
          },
        ],
      ],
    ],
    mistake: [
      [
        [
          'growth_create_rule',
          { name: 'Refill', trigger: { kind: 'item_posted' }, action: { kind: 'draft_batch' } },
        ],
      ],
    ],
  },
  {
    name: 'pause-rule',
    given: { rules: ['Try again', 'Tell me'] },
    ask: 'Pause the rule "Try again".',
    changes: ['rule'],
    asks: ['growth_update_rule'],
    rows: [
      ['rule', "name = 'Try again' and status = 'paused'"],
      ['rule', "name = 'Tell me' and status = 'active'"],
    ],
    script: [
      [['growth_list_rules', {}]],
      [['growth_update_rule', { id: '<rule: Try again>', status: 'paused' }]],
    ],
    mistake: [
      [['growth_list_rules', {}]],
      [['growth_update_rule', { id: '<rule: Tell me>', status: 'paused' }]],
    ],
  },
]
