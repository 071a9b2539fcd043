import { articles } from './growth/articles.ts'
import { audits } from './growth/audits.ts'
import { automation } from './growth/automation.ts'
import { batches } from './growth/batches.ts'
import { brief } from './growth/brief.ts'
import { calendar } from './growth/calendar.ts'
import { growthChannelOperations } from './growth/channels.ts'
import { connection, connections } from './growth/connections.ts'
import { counts } from './growth/counts.ts'
import { engagements } from './growth/engagements.ts'
import { experiments } from './growth/experiments.ts'
import { hooks } from './growth/hooks.ts'
import { items } from './growth/items.ts'
import { learnings } from './growth/learnings.ts'
import { metrics } from './growth/metrics.ts'
import { overview } from './growth/overview.ts'
import { growthPlan } from './growth/plan.ts'
import { products } from './growth/products.ts'
import { profile } from './growth/profile.ts'
import { reports } from './growth/reports.ts'
import { ruleRuns, rules } from './growth/rules.ts'
import { sandbox } from './growth/sandbox.ts'
import { signals } from './growth/signals.ts'
import { targets } from './growth/targets.ts'
import { area } from './op.ts'

/** For programs and agents, by API key. */
export const growthResources = area('growth', {
  overview: { about: 'The whole workspace at a glance.', group: overview },
  brief: { about: 'What to do next.', group: brief },
  batches: { about: 'Batches of drafted posts, made from the growth profile.', group: batches },
  articles: { about: 'Long-form articles, each posted as one long post.', group: articles },
  items: {
    about:
      'Posts and articles on their way from draft to the network. Nothing goes out without approval.',
    group: items,
  },
  connection: { about: 'The default account on the network.', group: connection },
  connections: { about: 'All connected accounts.', group: connections },
  profile: { about: 'Who the workspace is, who it writes for, and how.', group: profile },
  channels: { about: 'Where, how often and in what form to post.', group: growthChannelOperations },
  audits: { about: 'What worked and what flopped, by the numbers.', group: audits },
  hooks: { about: 'Ways to open a post, and how each performs.', group: hooks },
  learnings: {
    about: 'What worked and what flopped. Active learnings guide every draft.',
    group: learnings,
  },
  experiments: { about: 'Controlled comparisons of ways to write.', group: experiments },
  products: {
    about: 'What you offer. Drafts may mention active products, never archived ones.',
    group: products,
  },
  reports: { about: 'Weekly reports: the numbers, and what to do next.', group: reports },
  rules: {
    about: 'Automation rules, which draft when something happens. They never approve or post.',
    group: rules,
  },
  ruleRuns: { about: 'What each rule did, or why it did not act.', group: ruleRuns },
  engagements: {
    about: "Replies, quotes, reposts and likes of other people's posts, each behind approval.",
    group: engagements,
  },
  targets: { about: 'Accounts on the network whose posts are watched.', group: targets },
  signals: { about: 'Posts by targets that may deserve a response.', group: signals },
  sandbox: {
    about: 'The built-in network: what stands there, and acting as its residents.',
    group: sandbox,
  },
  counts: { about: 'How much there is in each state.', group: counts },
  calendar: {
    about: 'What is scheduled and posted, beside the slots of the cadences.',
    group: calendar,
  },
  metrics: { about: 'The numbers of posts, by day or week.', group: metrics },
  plan: { about: 'What the plan allows, and what is used.', group: growthPlan },
  automation: { about: 'The kill switch for everything unattended.', group: automation },
})
