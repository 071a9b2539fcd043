/** What connects a program that has a new key, ready to be pasted. */

/** The file that most MCP clients take. `origin`: of this deployment, without a slash. */
export const mcpConfiguration = (origin: string, key: string): string =>
  JSON.stringify(
    {
      mcpServers: {
        tendril: {
          type: 'http',
          url: `${origin}/api/v1/mcp?toolsets=core`,
          headers: { Authorization: `Bearer ${key}` },
        },
      },
    },
    null,
    2,
  )

export const curlCommand = (origin: string, key: string): string =>
  `curl '${origin}/api/v1/growth/overview' \\\n  -H 'Authorization: Bearer ${key}'`
