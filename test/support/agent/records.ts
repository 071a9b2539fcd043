/** Records of the workspace agent, for tests. */

import { factsAt, jobEffects } from '#decisions/agent/job-effects'
import { type Conversation, newConversation, withMessage } from '#domain/agent/conversation'
import { argumentsHash } from '#domain/agent/hash'
import type { Approval } from '#domain/agent/job/approval'
import { newJob } from '#domain/agent/job/change'
import { type Job, newTurn } from '#domain/agent/job/job'
import { newStep } from '#domain/agent/job/step'
import { type Memory, remember } from '#domain/agent/knowledge/memory'
import {
  firstVersion,
  newDraft,
  newPlaybook,
  type Playbook,
  type PlaybookVersion,
} from '#domain/agent/knowledge/playbook'
import { newId } from '#kernel/ids'
import { insertApprovals } from '#store/agent/approvals'
import { insertConversation, saveConversation } from '#store/agent/conversations'
import { insertMemory } from '#store/agent/memories'
import { insertMessages } from '#store/agent/messages'
import { insertPlaybook, insertVersion } from '#store/agent/playbooks'
import { insertSteps } from '#store/agent/steps'
import { type Workspace, write } from '../arrange.ts'

const inADay = (): Date => new Date(Date.now() + 86_400_000)

export const makeConversation = async (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  changes: Partial<Conversation> = {},
) => {
  const now = new Date()
  const author = { kind: 'agent', id: newId() } as const
  const begun = {
    ...newConversation(newId(), { title: 'Late deliveries', person_id: null, now }),
    ...changes,
  }
  const answer = {
    id: newId(),
    role: 'assistant',
    content: 'Done.',
    author,
    model: 'desk',
  } as const
  const { conversation, message } = withMessage(begun, answer, now)
  await write(workspace, { writes: [insertConversation(begun)] })
  await write(workspace, { writes: [saveConversation(conversation), insertMessages([message])] })
  return { id: conversation.id, messageId: message.id }
}

/** A conversation with feedback on its answer, by the workspace's key. */
export const makeFeedback = async (workspace: Workspace) => {
  const { id, messageId } = await makeConversation(workspace)
  const { app, key } = workspace
  await app.send('POST', `/api/v1/agent/conversations/${id}/feedback`, {
    key,
    body: { messageId, verdict: 'up' },
  })
  return { id }
}

/** A job that waits for its turn, and never begins by itself. */
export const makeJob = async (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  changes: Partial<Job> = {},
) => {
  const turn = {
    conversation_id: null,
    message_id: null,
    tools: null,
    tier: 'reasoning',
    asked_model: null,
    model: 'desk',
  } as const
  const on_behalf = { kind: 'key', id: newId(), personId: null } as const
  const job = newTurn(newId(), {
    ...turn,
    on_behalf,
    taint: [],
    content: 'What is late?',
    now: new Date(),
  })
  const now = new Date()
  const made = newJob({ ...job, ...changes }, factsAt(now), now)
  // Nothing for the webhook: it would keep the workspace awake.
  await write(workspace, { ...jobEffects({ ...made, due: undefined }), events: [] })
  return { id: job.id }
}

/** A task that waits for its turn, and never begins by itself. */
export const makeTask = (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  changes: Partial<Job> = {},
) =>
  makeJob(workspace, {
    kind: 'task',
    task: { type: 'extract_action_items', input: { text: 'TODO: call Anna' }, max_attempts: null },
    ...changes,
  })

/** A call that a job asks about, of a tool that every role may run. */
export const makeApproval = async (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  changes: Partial<Approval> = {},
) => {
  const { id: job_id } = await makeJob(workspace, { status: 'waiting_approval', next_step: 2 })
  const [id, now] = [newId(), new Date()]
  const call = {
    name: 'growth_overview',
    args: {},
    args_hash: argumentsHash({}),
    class: 'read',
  } as const
  const step = newStep(
    {
      id: newId(),
      job_id,
      number: 1,
      kind: 'tool',
      state: 'asked',
      ...call,
      call: 'call00001',
      why: ['your rule'],
    },
    now,
  )
  const approval: Approval = {
    id,
    job_id,
    step_id: step.id,
    conversation_id: null,
    goal: 'What is late?',
    tool_name: call.name,
    summary: 'Read the overview',
    arguments: call.args,
    arguments_hash: call.args_hash,
    subject: { records: [], account: null, text: null, sha256: null },
    why: step.why,
    status: 'pending',
    decided_by: null,
    decided_how: null,
    decider: null,
    subject_id: null,
    direct_by: null,
    reason: null,
    edited: false,
    expires_at: inADay(),
    decided_at: null,
    created_at: now,
    updated_at: now,
    ...changes,
  }
  await write(workspace, { writes: [insertSteps([step]), insertApprovals([approval])] })
  return { id }
}

/**
 * An hour ago, and a little later for each memory. Jobs that start now are given them, even if the
 * machine's clock steps.
 */
const remembered = (): Date => new Date(AN_HOUR_AGO + 10 * ++memories)
const AN_HOUR_AGO = Date.now() - 3_600_000
let memories = 0

/** A memory, of the workspace unless a person is named. */
export const makeMemory = async (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  changes: Partial<Memory> = {},
) => {
  const told = {
    id: newId(),
    scope: 'workspace',
    person_id: null,
    text: `Launch posts mention price ${newId()}`,
    ...changes,
  } as const
  const nothing = { equal: undefined, count: 0, oldest: null }
  const { memory } = remember(nothing, {
    untrusted: false,
    job_id: null,
    now: remembered(),
    ...told,
  })
  await write(workspace, { writes: [insertMemory({ ...memory, ...changes }, 'en')] })
  return { id: memory.id }
}

const aKey = { kind: 'key', id: newId(), personId: null } as const

/** A playbook with its first version. */
export const makePlaybook = async (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  {
    content = 'Mention the price in the first line.',
    ...changes
  }: Partial<Playbook> & { content?: string } = {},
) => {
  const [id, now] = [newId(), new Date()]
  const counts = { all: 0, active: 0, pinned: 0 }
  const given = {
    id,
    slug: `playbook-${id}`,
    name: 'Launch posts',
    description: null,
    pinned: false,
    ...changes,
  }
  const version = firstVersion({
    id: newId(),
    playbook_id: id,
    content,
    rationale: null,
    author: aKey,
    untrusted: false,
    now,
  })
  await write(workspace, {
    writes: [
      insertPlaybook(newPlaybook({ ...given, taken: false, counts, now })),
      insertVersion(version),
    ],
  })
  return { id, versionId: version.id }
}

/** Version 2 of an existing playbook. */
export const makeDraft = async (
  workspace: Pick<Workspace, 'app' | 'tenantId'>,
  changes: Partial<PlaybookVersion> & Pick<PlaybookVersion, 'playbook_id'>,
) => {
  const [row] = await workspace.app.owner`select max(number) as newest from playbook_version
      where playbook_id = ${changes.playbook_id}`
  const text = {
    content: 'Never mention the price.',
    rationale: null,
    author: aKey,
    untrusted: false,
  }
  const { version } = newDraft(
    { count: 1, newest: row!.newest, oldest: null },
    { id: newId(), ...text, ...changes, now: new Date() },
  )
  await write(workspace, { writes: [insertVersion(version)] })
  return version
}
