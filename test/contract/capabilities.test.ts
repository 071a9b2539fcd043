/**
 * Every capability with its class, whether its answer holds text of people outside, and the roles
 * that may call it beside owners.
 */
import { expect, test } from 'bun:test'
import { capabilities, operations } from '#contract/index'
import { readsOnly } from '#contract/op'

const expected = `
get_current_time         read                   editor approver viewer
fetch_url                outside_read   foreign editor approver viewer
schedule_task            draft                  editor approver
list_scheduled_tasks     read    foreign        editor approver viewer
cancel_scheduled_task    draft                  editor approver
list_playbooks           read                   editor approver viewer
read_playbook            read                   editor approver viewer
propose_playbook_update  draft                  editor approver
remember                 draft                  editor approver
search_memories          read          foreign  editor approver viewer
create_webhook_rule      commit                 approver
list_webhook_rules       read    foreign        editor approver viewer
search_documents         read    foreign        editor approver viewer
read_document            read    foreign        editor approver viewer
delegate                 draft                  editor approver
create_artifact          draft                  editor approver
list_artifacts           read    foreign        editor approver viewer
`

test('every capability has the class and roles of the table', () => {
  const rows = capabilities.map(({ tool, agent, foreign, roles }) =>
    [tool, agent, ...(foreign ? ['foreign'] : []), ...roles].join(' '),
  )
  const table = expected.trim().split('\n')
  expect(rows.sort()).toEqual(table.map((row) => row.split(/\s+/).join(' ')).sort())
})

test('a capability is called by its name, and keys need the scope of the workspace for it', () => {
  for (const { id, path, tool, also, kind } of capabilities) {
    expect({ id, path, also }).toEqual({
      id: `agent.actions.${tool}`,
      path: `/api/v1/actions/${tool}`,
      also: 'workspace:use',
    })
    expect(['query', 'command', 'prepared']).toContain(kind)
  }
})

test('a capability has a name of its own, and no route or command beside that of all', () => {
  const names = [...capabilities, ...operations].flatMap(({ tool }) => tool ?? [])
  expect(new Set(names).size).toBe(names.length)
  const ids = new Set(capabilities.map(({ id }) => id))
  expect(operations.filter(({ id }) => ids.has(id))).toEqual([])
})

test('capabilities that read change nothing', () => {
  for (const o of capabilities)
    expect([o.tool, readsOnly(o)]).toEqual([
      o.tool,
      o.agent === 'read' || o.agent === 'outside_read',
    ])
})
