/**
 * The scopes of API keys. `workspace:use` is our extension: a key has it only if its creator asked
 * for it.
 */
export const scopes = ['api:read', 'api:write', 'mcp:use', 'workspace:use'] as const
export type Scope = (typeof scopes)[number]

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

/** What an operation requires of its caller: a scope, a signed-in person, or nothing. */
export type Access = Scope | 'session' | 'public'
