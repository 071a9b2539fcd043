/**
 * Every tool with its class, and whether its answer holds text of people outside. A new tool needs
 * a row, and a thought.
 */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'

const expected = `
growth_overview              read    foreign
growth_get_brief             read    foreign
growth_create_batch          draft
growth_list_batches          read
growth_create_article        draft
growth_list_articles         read
growth_list_queue            read    foreign
growth_approve_item          commit  foreign
growth_reject_item           draft   foreign
growth_schedule_item         commit  foreign
growth_unschedule_item       draft   foreign
growth_post_item             commit  foreign
growth_mark_item_posted      commit  foreign
growth_create_item           draft   foreign
growth_edit_item             draft   foreign
growth_reopen_item           draft   foreign
growth_connection_status     read
growth_list_accounts         read
growth_set_default_account   commit
growth_update_profile        commit
growth_update_channel        commit
growth_create_audit          draft
growth_list_hooks            read
growth_list_learnings        read    foreign
growth_add_learning          draft   foreign
growth_retire_learning       draft   foreign
growth_list_experiments      read
growth_create_experiment     draft
growth_conclude_experiment   commit
growth_list_products         read
growth_add_product           draft
growth_update_product        draft
growth_list_reports          read
growth_create_report         draft
growth_list_rules            read
growth_create_rule           commit
growth_update_rule           commit
growth_list_rule_runs        read
growth_list_engagements      read    foreign
growth_create_engagement     draft   foreign
growth_approve_engagement    commit  foreign
growth_reject_engagement     draft   foreign
growth_execute_engagement    commit  foreign
growth_list_targets          read    foreign
growth_add_target            draft   foreign
growth_update_target         draft   foreign
growth_list_signals          read    foreign
growth_dismiss_signal        draft   foreign
growth_engage_signal         draft   foreign
growth_pause_automation      safe
growth_resume_automation     commit
agent_send_message           never   foreign
agent_get_job                never   foreign
agent_cancel_job             never   foreign
agent_run_task               never   foreign
agent_list_approvals         never   foreign
agent_list_inbox             never   foreign
`

const tools = operations.filter(({ tool }) => tool !== undefined)

test('every tool has the class of the table', () => {
  const rows = tools.map(({ tool, agent, foreign }) =>
    [tool, agent, ...(foreign ? ['foreign'] : [])].join(' '),
  )
  const table = expected.trim().split('\n')
  expect(rows.sort()).toEqual(table.map((row) => row.split(/\s+/).join(' ')).sort())
})

test('tools that read are those that change nothing', () => {
  expect(tools.filter(({ agent }) => agent === 'read').map(({ tool }) => tool)).toEqual(
    tools
      .filter(({ method, agent }) => method === 'GET' && agent !== 'never')
      .map(({ tool }) => tool),
  )
})

test('whatever reaches a network that others see is asked about', () => {
  const reaching = tools.filter(({ outside }) => outside)
  expect(reaching.map(({ agent }) => agent)).toEqual(reaching.map(() => 'commit'))
  expect(reaching).not.toBeEmpty()
})

test('an answer with a field that other people wrote is foreign', () => {
  const marked = tools.filter(({ output }) => JSON.stringify(output).includes('"x-untrusted":true'))
  expect(marked.filter(({ foreign }) => !foreign).map(({ tool }) => tool)).toEqual([])
  expect(marked).not.toBeEmpty()
})

test('a call that includes another operation is as guarded as that one', () => {
  const including = operations.filter(({ includes }) => includes)
  const guards = ({ scope, roles, agent, destructive }: Partial<(typeof operations)[number]>) =>
    JSON.stringify([scope, roles, agent, destructive])
  expect(including.map(guards)).toEqual(
    including.map(({ includes }) => guards(includes!.of as Partial<(typeof operations)[number]>)),
  )
  expect(including).not.toBeEmpty()
})
