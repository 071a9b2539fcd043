/** What an API key may reach. `workspace:use` is an extension of ours: no key has it unasked. */
export const scopes = ['api:read', 'api:write', 'mcp:use', 'workspace:use'] as const
export type Scope = (typeof scopes)[number]

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

/** What an operation asks of its caller: a scope, a person who is signed in, or nothing. */
export type Access = Scope | 'session' | 'public'
