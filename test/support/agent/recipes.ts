/** How to make the records of the workspace agent that operations take by id. */
import { argumentsHash } from '#domain/agent/hash'
import { newId } from '#kernel/ids'
import type { Workspace } from '../arrange.ts'
import { makeChannel } from '../channels/channels.ts'
import { makeReply, makeReplyInDoubt } from '../channels/replies.ts'
import { identityRow } from '../channels/senders.ts'
import { makeMcpServer } from '../mcp/servers.ts'
import { signedIn } from '../session.ts'
import { makeArtifact, makeShare } from './artifacts.ts'
import { documentInputs, makeDocument } from './documents.ts'
import {
  makeApproval,
  makeConversation,
  makeDraft,
  makeFeedback,
  makeJob,
  makeMemory,
  makePlaybook,
  makeTask,
} from './records.ts'
import { makeSchedule } from './schedules.ts'
import { makeWebhookRule } from './webhook-rules.ts'

const toolNames = ['growth_overview', 'growth_get_brief', 'growth_list_queue']
let turn = 0
/** A different tool from the two above. */
const toolName = async () => ({ name: toolNames[turn++ % toolNames.length]! })

/** What a person is asked to let the agent read. */
export const PAGE = { url: 'https://example.com/a' }
const reading = { tool_name: 'fetch_url', arguments: PAGE, arguments_hash: argumentsHash(PAGE) }

/** A playbook, and a draft of it that a key wrote. */
const playbookWithDraft = async (workspace: Workspace) => {
  const { id } = await makePlaybook(workspace)
  return { id, versionId: (await makeDraft(workspace, { playbook_id: id })).id }
}

/**
 * A private conversation that the signed-in person of the workspace has begun, with another member
 * in it.
 */
const conversationWithPerson = async (workspace: Workspace) => {
  const { app, tenantId } = workspace
  const { personId } = await signedIn(app, tenantId, 'viewer')
  const [owner] =
    await app.owner`select person_id from member where tenant_id = ${tenantId} and role = 'owner'
    order by created_at desc, person_id desc limit 1`
  const { id } = await makeConversation(workspace, {
    visibility: 'private',
    people: [personId],
    person_id: owner?.person_id ?? personId,
  })
  return { id, personId }
}

/** The same, with a member who is not in it. */
const conversationWithoutPerson = async (workspace: Workspace) => ({
  ...(await conversationWithPerson(workspace)),
  personId: (await signedIn(workspace.app, workspace.tenantId, 'viewer')).personId,
})

/** A channel with a linked sender of a member. */
const channelWithIdentity = async (workspace: Workspace) => {
  const id = await makeChannel(workspace)
  const { personId } = await signedIn(workspace.app, workspace.tenantId, 'editor')
  return {
    id,
    identityId: await identityRow(workspace, { connection: id, sender: newId(), personId }),
  }
}

/** By the operation's id up to its last dot. */
export const agentRecipes = {
  'agent.conversations': {
    make: async (workspace: Workspace) => ({ id: (await makeConversation(workspace)).id }),
  },
  'agent.conversationPeople': {
    make: conversationWithPerson,
    instead: { add: conversationWithoutPerson },
  },
  'agent.conversationFeedback': { make: makeFeedback, instead: { give: makeConversation } },
  'agent.jobs': { make: (workspace: Workspace) => makeJob(workspace) },
  'agent.approvals': { make: (workspace: Workspace) => makeApproval(workspace, reading) },
  'agent.memories': { make: (workspace: Workspace) => makeMemory(workspace) },
  'agent.playbooks': {
    make: async (workspace: Workspace) => ({ id: (await makePlaybook(workspace)).id }),
    instead: {
      activate: playbookWithDraft,
      reject: playbookWithDraft,
      version: async (workspace: Workspace) => ({
        id: (await playbookWithDraft(workspace)).versionId,
      }),
    },
  },
  'agent.documents': {
    make: async (workspace: Workspace) => ({ id: (await makeDocument(workspace)).id }),
    instead: {
      retry: async (workspace: Workspace) => ({
        id: (await makeDocument(workspace, { status: 'failed' })).id,
      }),
    },
  },
  'agent.schedules': { make: (workspace: Workspace) => makeSchedule(workspace) },
  'agent.tasks': { make: makeTask },
  'agent.channels': {
    make: async (workspace: Workspace) => ({ id: await makeChannel(workspace) }),
  },
  'agent.channelReplies': {
    make: async (workspace: Workspace) => ({ id: await makeReply(workspace) }),
    instead: { settle: makeReplyInDoubt },
  },
  'agent.channelIdentities': {
    make: async (workspace: Workspace) => ({ id: (await channelWithIdentity(workspace)).id }),
    instead: { remove: channelWithIdentity },
  },
  'agent.mcpServers': {
    make: async (workspace: Workspace) => ({ id: await makeMcpServer(workspace) }),
  },
  'agent.webhookRules': {
    make: async (workspace: Workspace) => ({ id: (await makeWebhookRule(workspace)).id }),
  },
  'agent.tools': { make: toolName },
  'agent.toolRules': { make: toolName },
  'agent.artifacts': {
    make: async (workspace: Workspace) => ({ id: (await makeArtifact(workspace)).id }),
    instead: {
      unshare: async (workspace: Workspace) => {
        const { id } = await makeArtifact(workspace)
        return { id, shareId: (await makeShare(workspace, id)).id }
      },
    },
  },
  'agent.actions': { make: async () => ({ name: 'get_current_time' }) },
  'agent.modules': { make: async () => ({ name: 'agent' }) },
}

let prefixes = 0

/** Valid inputs need more than a sample of each field for these operations. */
export const agentInputs = {
  ...documentInputs,
  // A key can be connected only once.
  'agent.channels.create': () => ({ routingKey: newId() }),
  // A prefix or a slug can be used only once.
  'agent.mcpServers.create': (_: unknown, extent: string) =>
    extent === 'whole' ? { toolPrefix: `acme${prefixes++}` } : {},
  'agent.playbooks.create': () => ({ slug: `playbook-${newId()}` }),
}
